// Entities as circles, each fact as a line of its own.

const STAR = [...Array(10)].map((_, i) => {
  const turn = (Math.PI * i) / 5 - Math.PI / 2, reach = i % 2 ? 0.55 : 1.35;
  return [reach * Math.cos(turn), reach * Math.sin(turn)];
});

// room around the stage that the sheet of lines covers too, as shares of its sides
const ROOM = 0.25;

class GraphPicture {
  constructor(model, look) {
    Object.assign(this, { model, look, camera: { x: 0, y: 0, zoom: 1 }, moved: new Map() });
    Object.assign(this, { sheet: null, next: null, dragged: null, edition: 0 });
  }
  get crowded() { return this.model.visible.length > 250; }
  renew(model) {
    this.model = model;
    for (const node of model.nodes) {
      const kept = this.moved.get(node.id);
      if (kept && kept.from[0] === node.x && kept.from[1] === node.y) [node.x, node.y] = kept.to;
      else this.moved.delete(node.id);
    }
    Object.assign(this, { sheet: null, next: null, dragged: null });
  }
  screen(node, camera = this.camera) {
    const { width, height } = this.look;
    return [(node.x - camera.x) * camera.zoom + width / 2, (node.y - camera.y) * camera.zoom + height / 2];
  }
  radius(node) {
    const grown = Math.min(1.8, Math.max(0.75, Math.sqrt(this.camera.zoom / (this.fitted || this.camera.zoom))));
    return (node.seed ? 6 : 4) * Math.sqrt(grown) + 6 * node.weight * grown;
  }
  frame() {
    const { width, height } = this.look, nodes = this.model.nodes;
    const xs = nodes.map((node) => node.x), ys = nodes.map((node) => node.y);
    const [left, right, top, bottom] = [Math.min(...xs), Math.max(...xs), Math.min(...ys), Math.max(...ys)];
    const ring = this.model.shape === "circle";
    const [side, above] = ring ? [Math.min(125, width * 0.22), Math.min(105, width * 0.22)] : [Math.min(60, width * 0.1), 34];
    const zoom = Math.min((width - 2 * side) / (right - left || 1), (height - 2 * above) / (bottom - top || 1));
    this.fitted = zoom;
    return { x: (left + right) / 2, y: (top + bottom) / 2, zoom };
  }
  // Where an item is seen well.
  view(item) {
    const [fact] = item.kind === "node" ? [] : this.model.facts(item), { nodes } = this.model;
    const ends = fact ? [nodes[fact.a], nodes[fact.b]] : [this.model.node(item)];
    const x = ends.reduce((sum, node) => sum + node.x, 0) / ends.length;
    const y = ends.reduce((sum, node) => sum + node.y, 0) / ends.length;
    return { x, y, zoom: Math.max(this.camera.zoom, (this.fitted || 1) * 1.6) };
  }
  path(edge, camera = this.camera) {
    const [a, b] = [this.model.nodes[edge.a], this.model.nodes[edge.b]];
    const start = this.screen(a, camera), end = this.screen(b, camera), ring = this.model.shape === "circle";
    if (edge.a === edge.b) {
      const size = 26 + 9 * (edge.lane + (edge.lanes - 1) / 2), [x, y] = start;
      const centre = ring ? this.screen({ x: 0, y: 0 }, camera) : [x, y - 1];
      const long = Math.hypot(centre[0] - x, centre[1] - y) || 1;
      const [ux, uy] = [(centre[0] - x) / long, (centre[1] - y) / long];
      const bow = (side) => [x + size * (1.5 * ux - side * uy), y + size * (1.5 * uy + side * ux)];
      return [start, bow(-1), bow(1), end];
    }
    if (!ring && edge.lane === 0) return [start, end];
    const turned = edge.a < edge.b ? 1 : -1;
    const bend = 2 * turned * edge.lane * Math.min(0.14, 0.9 / edge.lanes);
    const [dx, dy] = [end[0] - start[0], end[1] - start[1]];
    let middle = [(start[0] + end[0]) / 2 - dy * bend, (start[1] + end[1]) / 2 + dx * bend];
    if (ring) {
      const centre = this.screen({ x: 0, y: 0 }, camera);
      middle = middle.map((value, i) => centre[i] + 0.35 * (value - centre[i]) + bend * (i ? dx : -dy) * 0.5);
    }
    const towards = (from) => from.map((value, i) => value + (2 / 3) * (middle[i] - value));
    return [start, towards(start), towards(end), end];
  }
  edge(pen, edge, more = {}, camera = this.camera, heads = true) {
    const colour = this.model.scale.colour(edge.relik), cue = this.model.scale.cue(edge.relik);
    const path = this.path(edge, camera);
    pen.line(path, { colour, ...cue, ...more });
    if (!heads) return;
    const end = path[path.length - 1], before = path[path.length - 2];
    const [dx, dy] = [end[0] - before[0], end[1] - before[1]], long = Math.hypot(dx, dy) || 1;
    const [ux, uy] = [dx / long, dy / long], back = this.radius(this.model.nodes[edge.b]) + 1;
    const [x, y] = [end[0] - ux * back, end[1] - uy * back], wide = 3.2, far = 8;
    const barb = (side) => [x - ux * far - uy * wide * side, y - uy * far + ux * wide * side];
    pen.area([[x, y], barb(1), barb(-1)], { colour, alpha: more.alpha ?? 1 });
  }
  // All lines at once take long to draw: they are laid on a sheet, bit by bit, which moves along.
  lay() {
    const { width, height, ratio } = this.look, edges = this.model.visible;
    if (this.next?.key !== this.key()) {
      const canvas = document.createElement("canvas");
      [canvas.width, canvas.height] = [width, height].map((side) => Math.ceil(side * ratio * (1 + 2 * ROOM)));
      const context = canvas.getContext("2d");
      context.setTransform(ratio, 0, 0, ratio, width * ROOM * ratio, height * ROOM * ratio);
      const without = this.dragged?.index ?? -1;
      this.next = { canvas, without, pen: new CanvasPen(context), done: 0, camera: { ...this.camera }, key: this.key() };
    }
    const sheet = this.next, until = Math.min(edges.length, sheet.done + 200);
    const style = { alpha: this.crowded ? 0.55 : 0.9 };
    for (; sheet.done < until; sheet.done++) {
      const edge = edges[sheet.done];
      if (edge.a === sheet.without || edge.b === sheet.without) continue;
      this.edge(sheet.pen, edge, style, sheet.camera, edges.length <= 600);
    }
    if (sheet.done === edges.length) [this.sheet, this.next] = [sheet, null];
  }
  key() {
    const { width, height, ratio } = this.look, { x, y, zoom } = this.camera;
    return [width, height, ratio, x, y, zoom, this.edition, this.dragged?.index].join(" ");
  }
  // Draw; true if it is not done yet.
  draw(context, { selected, focus, hover, moving }) {
    const late = this.sheet?.key !== this.key();
    if (late && !(moving && this.sheet)) this.lay();
    const { sheet } = this;
    if (sheet) {
      const { width, height, ratio } = this.look, scale = this.camera.zoom / sheet.camera.zoom;
      const [x, y] = this.screen(sheet.camera);
      context.globalAlpha = this.model.exists(selected) ? 0.13 : 1;
      context.drawImage(sheet.canvas, x - width * (0.5 + ROOM) * scale, y - height * (0.5 + ROOM) * scale,
        (sheet.canvas.width / ratio) * scale, (sheet.canvas.height / ratio) * scale);
    }
    this.above(new CanvasPen(context), { selected, focus, hover });
    return this.sheet?.key !== this.key();
  }
  save(pen) {
    const style = { alpha: this.crowded ? 0.55 : 0.9 };
    for (const edge of this.model.visible) {
      this.edge(pen, edge, style, this.camera, this.model.visible.length <= 600);
    }
    this.above(pen, {});
  }
  above(pen, { selected = null, focus = null, hover = null }) {
    const { model } = this, faded = model.exists(selected), near = new Set();
    for (const item of [hover, focus, selected]) {
      const facts = model.exists(item) ? model.facts(item) : [];
      const single = item?.kind === "edge" || item?.kind === "pair";
      for (const edge of facts) {
        const cue = model.scale.cue(edge.relik);
        this.edge(pen, edge, { width: single ? cue.width + 2.2 : cue.width + 0.6 });
        if (item === selected || single) near.add(edge.a).add(edge.b);
      }
      if (item?.kind === "node" && model.exists(item)) near.add(model.indexOf.get(item.id));
    }
    for (const edge of model.at[this.sheet?.without] ?? []) this.edge(pen, edge);
    for (const node of [...model.nodes].sort((one, other) => one.seed - other.seed)) {
      const quiet = (faded && !near.has(node.index)) || !model.at[node.index].length;
      this.node(pen, node, quiet ? 0.35 : 1, [selected, focus].map((item) =>
        item?.kind === "node" && item.id === node.id));
    }
    this.labels(pen, { selected, focus, hover }, faded ? near : null);
  }
  node(pen, node, alpha, [selected, focus]) {
    const at = this.screen(node), radius = this.radius(node), { look } = this;
    if (focus) pen.circle(at, radius + 6, { edge: look.accent, width: 2 });
    if (selected) pen.circle(at, radius + 3, { edge: look.ink, width: 2.5 });
    if (node.seed) {
      pen.area(STAR.map(([x, y]) => [at[0] + x * radius, at[1] + y * radius]), { colour: look.seed, alpha });
    } else {
      const style = node.added ? { colour: look.ground, edge: look.node, width: 2 }
        : { colour: look.node, edge: look.ground };
      pen.circle(at, radius, { ...style, alpha });
    }
  }
  // Labels thin out: the most important first, and none over another.
  labels(pen, { selected, focus, hover }, only) {
    const { width, height, ink, ground } = this.look, { model } = this, boxes = [];
    const first = new Set([selected, focus, hover].filter((item) => item?.kind === "node" && model.exists(item))
      .map((item) => model.indexOf.get(item.id)));
    const rank = (node) => (first.has(node.index) ? 4 : node.seed ? 3 : 0) + node.weight;
    const near = model.nodes.length <= 100 || this.camera.zoom > 1.8 * (this.fitted || 1);
    const shows = (node) => (only ? only.has(node.index) : near || model.at[node.index].length) || node.seed;
    const order = model.nodes.filter((node) => shows(node) || first.has(node.index))
      .sort((one, other) => rank(other) - rank(one));
    const limit = width < 500 ? 16 : 26;
    for (const node of order) {
      const [x, y] = this.screen(node);
      if (x < 0 || y < 0 || x > width || y > height) continue;
      const bold = first.has(node.index), text = cut(node.label, bold ? 60 : limit), size = 11.5;
      const long = widthOf(text, size) * (bold ? 1.08 : 1), style = { colour: ink, size, bold, halo: ground };
      if (model.shape === "circle" && !bold) {
        this.spoke(pen, node, boxes, { ...style, alpha: model.at[node.index].length ? 1 : 0.6 });
        continue;
      }
      const left = Math.min(Math.max(x - long / 2, 3), width - long - 3);
      const high = y - this.radius(node) - 9;
      const line = high < 8 ? y + this.radius(node) + 9 : high, box = [left - 4, line - 10, long + 8, 20];
      if (!bold && boxes.some((other) => meet(other, box))) continue;
      boxes.push(box);
      pen.text(text, [left, line], style);
    }
    const named = model.exists(selected) && selected.kind !== "node" ? model.facts(selected)
      : only ? model.facts(selected) : model.visible.length <= 40 ? model.visible : [];
    for (const edge of named.slice(-40).reverse()) {
      const path = this.path(edge), text = cut(model.relations[edge.r], 28), size = 10.5;
      const [x, y] = along(path, 0.5), long = widthOf(text, size);
      const box = [x - long / 2, y - 7, long, 14];
      if (boxes.some((other) => meet(other, box))) continue;
      boxes.push(box);
      pen.text(text, [x, y], { colour: ink, size, align: "center", halo: ground, alpha: 0.95 });
    }
  }
  // Around a circle, labels stand like spokes, as long as there is room.
  spoke(pen, node, boxes, style) {
    const { width, height } = this.look, [x, y] = this.screen(node), centre = this.screen({ x: 0, y: 0 });
    const turn = Math.atan2(y - centre[1], x - centre[0]), [ux, uy] = [Math.cos(turn), Math.sin(turn)];
    const gap = this.radius(node) + 5, at = [x + ux * gap, y + uy * gap];
    const room = Math.min((ux > 0 ? width - at[0] : at[0]) / Math.abs(ux || 1e-9),
      (uy > 0 ? height - at[1] : at[1]) / Math.abs(uy || 1e-9)) - 6;
    if (room < 40) return;
    const text = fitted(cut(node.label, 26), style.size, room), long = widthOf(text, style.size);
    const end = [at[0] + ux * long, at[1] + uy * long];
    const box = [Math.min(at[0], end[0]), Math.min(at[1], end[1]), Math.abs(at[0] - end[0]), Math.abs(at[1] - end[1])];
    const spoke = { at, turn };
    if (boxes.some((other) => (other.at ? clash(other, spoke) : meet(other, box)))) return;
    boxes.push(Object.assign(box, spoke));
    const flip = ux < 0;
    pen.text(text, at, { ...style, align: flip ? "right" : "left", turn: flip ? turn + Math.PI : turn });
  }
  hit([x, y], slack) {
    const { model } = this;
    let best = null, least = Infinity;
    for (const node of model.nodes) {
      const [nx, ny] = this.screen(node), away = Math.hypot(x - nx, y - ny) - this.radius(node);
      if (away < Math.min(least, slack)) [best, least] = [{ kind: "node", id: node.id }, away];
    }
    if (best) return best;
    for (const edge of model.visible) {
      const away = distance(this.path(edge), [x, y]);
      if (away <= Math.min(least, slack + 3)) [best, least] = [{ kind: "edge", id: edge.id }, away];
    }
    return best;
  }
  grab(item, [x, y]) {
    if (item?.kind !== "node") return false;
    const node = this.model.node(item);
    if (!this.dragged) {
      const kept = this.moved.get(node.id);
      this.dragged = node;
      this.moved.set(node.id, { from: kept ? kept.from : [node.x, node.y], to: [node.x, node.y] });
    }
    const { width, height } = this.look, { camera } = this;
    [node.x, node.y] = [(x - width / 2) / camera.zoom + camera.x, (y - height / 2) / camera.zoom + camera.y];
    this.moved.get(node.id).to = [node.x, node.y];
    return true;
  }
  release() {
    this.dragged = null;
    this.edition += 1;
  }
  start() {
    const seed = this.model.nodes.find((node) => node.seed) || this.model.nodes[0];
    return seed ? { kind: "node", id: seed.id } : null;
  }
  // The entity that an item starts from.
  anchor(item) {
    return item.kind === "node" ? this.model.node(item) : this.model.nodes[this.model.facts(item)[0].a];
  }
  // The next entity in a direction: near, and not far off it.
  step(item, [dx, dy]) {
    const { model } = this;
    const from = this.anchor(item);
    let best = null, least = Infinity;
    for (const node of model.nodes) {
      const [x, y] = [node.x - from.x, node.y - from.y], long = Math.hypot(x, y);
      const ahead = (x * dx + y * dy) / (long || 1);
      if (node === from || ahead < 0.5 || long * (2 - ahead) >= least) continue;
      [best, least] = [node, long * (2 - ahead)];
    }
    return best ? { kind: "node", id: best.id } : item;
  }
  // The next fact of the entity, the least reliable first.
  cycle(item, way) {
    const { model } = this;
    const from = item.kind === "edge" ? this.walked ?? this.anchor(item).index : this.anchor(item).index;
    this.walked = from;
    const facts = [...model.at[from]].reverse();
    if (!facts.length) return item;
    const at = item.kind === "edge" ? facts.findIndex((edge) => edge.id === item.id) : way > 0 ? -1 : 0;
    return { kind: "edge", id: facts[(at + way + facts.length) % facts.length].id };
  }
}

function along([p, c, d, q], t) {
  if (!d) return p.map((value, i) => value + t * (c[i] - value));
  const s = 1 - t;
  return p.map((value, i) => s * s * s * value + 3 * s * s * t * c[i] + 3 * s * t * t * d[i] + t * t * t * q[i]);
}

function distance(path, point) {
  const steps = path.length === 2 ? 1 : 14;
  let least = Infinity, [x, y] = path[0];
  for (let i = 1; i <= steps; i++) {
    const [u, v] = along(path, i / steps), [dx, dy] = [u - x, v - y];
    const share = ((point[0] - x) * dx + (point[1] - y) * dy) / (dx * dx + dy * dy || 1);
    const at = Math.min(1, Math.max(0, share));
    least = Math.min(least, Math.hypot(point[0] - x - at * dx, point[1] - y - at * dy));
    [x, y] = [u, v];
  }
  return least;
}

function meet([x, y, width, height], [u, v, wide, high]) {
  return x < u + wide && u < x + width && y < v + high && v < y + height;
}

function clash(one, other) {
  const turn = Math.abs(Math.atan2(Math.sin(one.turn - other.turn), Math.cos(one.turn - other.turn)));
  return turn < 1 && Math.hypot(one.at[0] - other.at[0], one.at[1] - other.at[1]) < 12;
}
