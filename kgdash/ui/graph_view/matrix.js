// Heads as rows, tails as columns, ordered by community; what two entities share is a cell.

class MatrixPicture {
  constructor(model, look) {
    Object.assign(this, { look, camera: { x: 0, y: 0, zoom: 1 } });
    this.renew(model);
  }
  renew(model) {
    this.model = model;
    this.order = model.nodes.map((node) => node.index)
      .sort((one, other) => model.nodes[one].order - model.nodes[other].order);
    this.rank = new Array(model.nodes.length);
    this.order.forEach((index, place) => { this.rank[index] = place; });
    this.bounds = [];
    this.order.forEach((index, place) => {
      const before = place ? model.nodes[this.order[place - 1]].group : null;
      if (place && model.nodes[index].group !== before) this.bounds.push(place);
    });
  }
  frame() { return { x: 0, y: 0, zoom: 1 }; }
  get gutter() { return Math.min(130, this.look.width * 0.28); }
  get sides() {
    const { width, height } = this.look, count = this.order.length || 1;
    const [across, down] = [(width - this.gutter - 8) / count, (height - this.gutter * 0.85 - 8) / count];
    return [Math.min(across, down * 1.7), Math.min(down, across * 1.7)].map((side) => Math.min(side, 40) * this.camera.zoom);
  }
  corner(column, row) {
    const [wide, high] = this.sides;
    return [this.gutter + (column - this.camera.x) * wide, this.gutter * 0.85 + (row - this.camera.y) * high];
  }
  place(id) {
    const cell = this.model.cells.get(id);
    return [this.rank[cell.tail], this.rank[cell.head]];
  }
  draw(context, { selected, focus, hover }) {
    if (this.model.facets) this.facets(new CanvasPen(context), hover ?? focus);
    else this.paint(new CanvasPen(context), { selected, focus, hover });
    return false;
  }
  save(pen) { if (this.model.facets) this.facets(pen, null); else this.paint(pen, {}); }
  inside([x, y]) { return x >= this.gutter - 1 && y >= this.gutter * 0.85 - 1 && x < this.look.width && y < this.look.height; }
  paint(pen, { selected = null, focus = null, hover = null }) {
    const { model } = this, { ink, accent, faint, width, height } = this.look, [wide, high] = this.sides;
    const count = this.order.length, top = this.gutter * 0.85, faded = model.exists(selected);
    const [left, upper] = this.corner(0, 0), [right, lower] = this.corner(count, count);
    const clip = ([x, y]) => [Math.min(Math.max(x, this.gutter), width), Math.min(Math.max(y, top), height)];
    pen.area([[left, upper], [right, upper], [right, lower], [left, lower]].map(clip), { colour: faint });
    const chosen = faded ? new Set(this.marked(selected)) : null, gap = Math.min(wide, high) > 5 ? 0.6 : 0;
    for (const cell of model.cells.values()) {
      const [column, row] = this.place(cell.id), [x, y] = this.corner(column, row);
      const corners = [[x + gap, y + gap], [x + wide - gap, y + gap], [x + wide - gap, y + high - gap],
        [x + gap, y + high - gap]].map(clip);
      if (corners[0][0] >= corners[2][0] || corners[0][1] >= corners[2][1]) continue;
      const alpha = !chosen || chosen.has(cell.id) ? 1 : 0.25;
      pen.area(corners, { colour: model.scale.colour(cell.relik), alpha });
      const low = cell.relik !== null && model.scale.place(cell.relik) < 0.25;
      if (low && Math.min(wide, high) > 7 && this.inside([x, y])) {
        pen.line([[x + gap + 1, y + high - gap - 1], [x + wide - gap - 1, y + gap + 1]], { colour: "#fff", width: 1.3, alpha });
      }
    }
    for (const at of this.bounds) {
      for (const line of [[[at, 0], [at, count]], [[0, at], [count, at]]]) {
        pen.line(line.map((end) => clip(this.corner(...end))), { colour: ink, width: 0.8, alpha: 0.45 });
      }
    }
    this.labels(pen, [selected, focus, hover].filter((item) => model.exists(item)));
    for (const [item, colour] of [[hover, ink], [focus, accent], [selected, ink]]) {
      const cells = model.exists(item) && item.kind !== "node" ? this.marked(item) : [];
      for (const id of cells) {
        const [x, y] = this.corner(...this.place(id));
        if (!this.inside([x, y])) continue;
        const box = [[x, y], [x + wide, y], [x + wide, y + high], [x, y + high], [x, y]];
        for (let i = 0; i < 4; i++) pen.line([box[i], box[i + 1]], { colour, width: 2.4 });
      }
    }
  }
  // The cells that belong to an item.
  marked(item) {
    const { model } = this;
    if (item.kind === "pair") return [item.id];
    const edges = item.kind === "edge" ? [model.edgeOf.get(item.id)]
      : model.chosen.filter((edge) => [edge.a, edge.b].includes(model.indexOf.get(item.id)));
    return edges.map((edge) => `${edge.head} ${edge.tail}`).filter((id) => model.cells.has(id));
  }
  labels(pen, items) {
    const { model } = this, { ink, width, height, ground } = this.look, [wide, high] = this.sides;
    const top = this.gutter * 0.85, bold = new Set();
    for (const item of items) {
      if (item.kind === "node") bold.add(`r${model.indexOf.get(item.id)}`).add(`c${model.indexOf.get(item.id)}`);
      else for (const id of this.marked(item)) bold.add(`r${model.cells.get(id).head}`).add(`c${model.cells.get(id).tail}`);
    }
    for (const axis of ["r", "c"]) {
      const side = axis === "r" ? high : wide, size = Math.min(11, Math.max(8, side * 0.95)), taken = [];
      const order = [...this.order].sort((one, other) =>
        bold.has(axis + other) - bold.has(axis + one) || model.nodes[other].weight - model.nodes[one].weight);
      for (const index of order) {
        const [x, y] = this.corner(this.rank[index] + 0.5, this.rank[index] + 0.5);
        const at = axis === "r" ? y : x, [from, to] = axis === "r" ? [top, height] : [this.gutter, width];
        if (at < from || at > to || taken.some((other) => Math.abs(other - at) < Math.min(size, side * 1.2) - 0.01)) continue;
        taken.push(at);
        const heavy = bold.has(axis + index), room = (axis === "r" ? this.gutter : top) - 8;
        const text = fitted(model.nodes[index].label, size * (heavy ? 1.08 : 1), room);
        const style = { colour: ink, size, bold: heavy, halo: heavy ? ground : null };
        if (axis === "r") pen.text(text, [this.gutter - 5, at], { ...style, align: "right" });
        else pen.text(text, [at, top - 5], { ...style, turn: -Math.PI / 2 });
      }
    }
    pen.text("tail →", [this.gutter - 5, 10], { colour: ink, size: 11, align: "right", bold: true });
    pen.text("head ↓", [this.gutter - 5, top - 10], { colour: ink, size: 11, align: "right", bold: true });
  }
  // The relations side by side, those of most facts first, each a small matrix.
  get columns() { return this.look.width < 500 ? 2 : 4; }
  tiles() {
    const { width, height } = this.look, { model } = this, counts = model.relations.map(() => 0);
    for (const edge of model.edges) counts[edge.r] += 1;
    const most = counts.map((count, id) => ({ id, count })).filter(({ count }) => count)
      .sort((one, other) => other.count - one.count);
    const { columns } = this, rows = 3;
    const [wide, high] = [width / columns, height / rows];
    return most.slice(0, columns * rows).map((tile, i) => ({ ...tile, x: (i % columns) * wide + 6,
      y: Math.floor(i / columns) * high + 4, wide: wide - 12, high: high - 8 }));
  }
  facets(pen, hover) {
    const { model } = this, { ink, faint, accent } = this.look, count = this.order.length || 1;
    for (const { id, count: facts, x, y, wide, high } of this.tiles()) {
      const pointed = hover?.kind === "relation" && hover.id === id;
      const name = fitted(`${model.relations[id]} (${facts})`, 11, wide);
      pen.text(name, [x, y + 8], { colour: pointed ? accent : ink, size: 11, bold: pointed });
      const [side, tall] = [wide / count, (high - 18) / count], top = y + 18;
      pen.area([[x, top], [x + wide, top], [x + wide, y + high], [x, y + high]], { colour: faint });
      const own = cellsOf(model.edges.filter((edge) => edge.r === id));
      for (const cell of own.values()) {
        const [u, v] = [x + this.rank[cell.tail] * side, top + this.rank[cell.head] * tall];
        const [w, h] = [Math.max(side, 1.2), Math.max(tall, 1.2)];
        pen.area([[u, v], [u + w, v], [u + w, v + h], [u, v + h]], { colour: model.scale.colour(cell.relik) });
      }
    }
  }
  hit([x, y]) {
    if (this.model.facets) {
      const tile = this.tiles().find((one) => x > one.x && x < one.x + one.wide && y > one.y && y < one.y + one.high);
      return tile ? { kind: "relation", id: tile.id } : null;
    }
    const [wide, high] = this.sides, [left, top] = this.corner(0, 0), count = this.order.length;
    const [column, row] = [Math.floor((x - left) / wide), Math.floor((y - top) / high)];
    const [right, under] = [column >= 0 && column < count, row >= 0 && row < count];
    if (x < this.gutter && under && y > this.gutter * 0.85) return this.entity(row);
    if (y < this.gutter * 0.85 && right && x > this.gutter) return this.entity(column);
    if (!right || !under || !this.inside([x, y])) return null;
    const [head, tail] = [row, column].map((place) => this.entity(place).id), id = `${head} ${tail}`;
    return this.model.cells.has(id) ? { kind: "pair", id } : null;
  }
  entity(place) { return { kind: "node", id: this.model.nodes[this.order[place]].id }; }
  grab() { return false; }
  release() {}
  view(item) {
    if (this.model.facets) return { ...this.camera };
    const [id] = this.marked(item), zoom = Math.max(this.camera.zoom, 1.5);
    const [column, row] = id === undefined || item.kind === "node"
      ? [this.rank[this.model.indexOf.get(item.id)] ?? 0, this.rank[this.model.indexOf.get(item.id)] ?? 0] : this.place(id);
    const [wide, high] = this.sides.map((side) => (side / this.camera.zoom) * zoom), { width, height } = this.look;
    return { x: column - (width - this.gutter) / wide / 2, y: row - (height - this.gutter) / high / 2, zoom };
  }
  start() {
    if (this.model.facets) return this.tile(0);
    return this.walk({ at: [-1, 0] }, [1, 0]);
  }
  tile(place) {
    const tile = this.tiles()[place];
    return tile ? { kind: "relation", id: tile.id } : null;
  }
  step(item, way) {
    if (this.model.facets) {
      const at = this.tiles().findIndex((tile) => tile.id === item.id);
      return this.tile(at + way[0] + way[1] * this.columns) ?? item;
    }
    const id = item.kind === "pair" ? item.id : this.marked(item)[0];
    return (id === undefined ? this.start() : this.walk({ at: this.place(id) }, way)) ?? item;
  }
  // The next filled cell: in the row or column, else the nearest in that direction.
  walk({ at: [column, row] }, [dx, dy]) {
    let best = null, least = Infinity;
    for (const id of this.model.cells.keys()) {
      const [u, v] = this.place(id), ahead = (u - column) * dx + (v - row) * dy;
      if (ahead <= 0) continue;
      const cost = ahead + 1000 * Math.abs((u - column) * dy + (v - row) * dx);
      if (cost < least) [best, least] = [{ kind: "pair", id }, cost];
    }
    return best;
  }
  cycle(item, way) { return this.step(item, [way, 0]); }
}
