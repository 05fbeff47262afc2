// The component: tools, pointer, keyboard; a click goes to Python, where one looks stays here.

const KEPT = ["look", "model", "pictures", "version", "given", "kind", "framed", "selected", "focus", "relationName"];
const SETTLE = 160, CLICK = 5, FLIGHT = 350;
const HELP = "By keyboard: arrows walk, . and , go through an entity's facts, Enter selects, Esc clears, "
  + "+ − 0 zoom, / finds. The table beside lists the same facts.";

class View {
  // former: the view that stood here before Streamlit put the page together anew
  constructor(root, former) {
    this.root = root;
    this.at = (name) => root.querySelector(name);
    this.stage = this.at(".stage");
    this.canvas = this.at("canvas");
    this.context = this.canvas.getContext("2d");
    this.look = { width: 0, height: 0, ratio: 1 };
    this.pointers = new Map();
    Object.assign(this, { hover: null, focus: null, selected: null, moved: 0, framed: {} });
    for (const name of former ? KEPT : []) this[name] = former[name];
    this.look.width = 0;
    this.at(".help").textContent = HELP;
    this.listen();
    new ResizeObserver(() => this.resize()).observe(this.stage);
    new MutationObserver(() => this.restyle()).observe(document.documentElement, { attributes: true, subtree: false });
  }
  // Data of the same version change nothing: positions, zoom and focus stay.
  update({ data, setStateValue, setTriggerValue }) {
    Object.assign(this, { send: setStateValue, trigger: setTriggerValue });
    if (data.version !== this.version) this.renew(data);
    else if (!this.look.width) this.fill();
    this.resize();
    this.restyle();
  }
  // Of the same part of the graph, what was chosen stays too, unless another default holds now.
  renew(data) {
    const before = this.model, same_part = before?.part === data.part;
    this.version = data.version;
    this.model = new Model(structuredClone(data));
    if (same_part) {
      const shown = this.given.facts === data.facts ? before.shown : data.facts;
      this.model.show(shown, data.relations.indexOf(this.relationName));
      this.model.facets = before.facets;
    }
    this.pictures ??= { graph: new GraphPicture(this.model, this.look), matrix: new MatrixPicture(this.model, this.look) };
    for (const picture of Object.values(this.pictures)) picture.renew(this.model);
    for (const kind of Object.keys(this.framed)) {
      if (!same_part || !this.framed[kind].moved) delete this.framed[kind];
    }
    if (this.given?.view !== data.view) this.kind = data.view;
    this.given = { view: data.view, facts: data.facts };
    this.hover = null;
    if (!this.model.exists(this.focus)) this.focus = null;
    if (!before && !this.selected && this.model.exists(data.picked)) this.selected = data.picked;
    if (!this.model.exists(this.selected)) this.selected = null;
    this.address = data.address;
    this.keep();
    this.fill();
  }
  get picture() { return this.pictures[this.kind]; }
  fill() {
    const { model } = this, { nodes, relations, edges } = model;
    const count = relations.map(() => 0);
    for (const edge of edges) count[edge.r] += 1;
    const order = relations.map((_, id) => id).sort((one, other) => count[other] - count[one]);
    const options = [["-1", `all (${edges.length})`], ["-2", "side by side"],
      ...order.map((id) => [String(id), `${relations[id]} (${count[id]})`])];
    fillOptions(this.at(".relation"), options, String(model.facets ? -2 : model.relation));
    const { few } = model, many = edges.length > few;
    fillOptions(this.at(".shown"), [["all", `all (${edges.length})`],
      ...(many ? [["least reliable", `${few} least reliable`], ["most reliable", `${few} most reliable`]] : [])], model.shown);
    this.at("#kg-names").replaceChildren(...nodes.map((node) => new Option(node.label)));
    const words = `${nodes.length} entities and ${edges.length} facts.`;
    this.stage.setAttribute("aria-label", `${model.title}: ${words}`);
    this.tools();
  }
  tools() {
    for (const button of this.root.querySelectorAll("[data-view]")) {
      button.setAttribute("aria-pressed", String(button.dataset.view === this.kind));
    }
    this.at(".shown").parentElement.hidden = this.kind === "matrix";
    this.at('.relation option[value="-2"]').hidden = this.kind !== "matrix";
    this.legend();
  }
  restyle() {
    const style = getComputedStyle(this.stage), read = (name) => style.getPropertyValue(name).trim();
    const before = JSON.stringify(this.look);
    Object.assign(this.look, { ink: read("--st-text-color") || "#1c2733", ground: read("--st-background-color") || "#fff",
      accent: read("--st-primary-color") || "#1f63b8", faint: read("--st-secondary-background-color") || "#f3f5f8",
      node: "#8a96a3", seed: this.model?.seedColour });
    if (before !== JSON.stringify(this.look)) { this.legend(); this.render(); }
  }
  resize() {
    const { width, height } = this.stage.getBoundingClientRect(), ratio = Math.min(window.devicePixelRatio || 1, 2);
    if (!width || !this.model) return;
    const other = width !== this.look.width || height !== this.look.height || ratio !== this.look.ratio;
    if (other) {
      Object.assign(this.look, { width, height, ratio });
      [this.canvas.width, this.canvas.height] = [width * ratio, height * ratio];
      for (const kind of Object.keys(this.framed)) if (!this.framed[kind].moved) delete this.framed[kind];
      this.legend();
    }
    if (!this.framed[this.kind]) {
      Object.assign(this.picture.camera, this.picture.frame());
      this.framed[this.kind] = { moved: false };
    }
    this.render();
  }
  legend() {
    if (!this.model || !this.look.width) return;
    const pen = new SvgPen(), width = this.look.width;
    this.explain(pen);
    this.at(".legend").innerHTML = pen.svg(width, LEGEND_HEIGHT);
    this.at(".legend svg").setAttribute("role", "img");
    this.at(".legend svg").setAttribute("aria-label", `${this.model.scale.title}. Lines far below the median are dashed.`);
  }
  explain(pen) {
    const { model, look, kind } = this, unknown = model.edges.some((edge) => edge.relik === null);
    drawLegend(pen, model.scale, look.ink, look.width, kind === "graph", unknown);
  }
  render() {
    if (this.asked || !this.model || !this.look.width) return;
    this.asked = requestAnimationFrame(() => {
      this.asked = null;
      const { context, canvas, look } = this, moving = this.flying || this.pointers.size > 0 || this.settling;
      context.setTransform(1, 0, 0, 1, 0, 0);
      context.clearRect(0, 0, canvas.width, canvas.height);
      context.setTransform(look.ratio, 0, 0, look.ratio, 0, 0);
      const { selected, focus, hover } = this;
      const shown = this.root.activeElement === this.stage || this.stage.matches(":focus") ? focus : null;
      const busy = this.picture.draw(context, { selected, focus: shown, hover, moving });
      this.stage.dataset.drawn = busy ? "" : `${this.kind} ${this.model.visible.length}`;
      if (busy && !moving) this.render();
    });
  }
  settle() {
    this.framed[this.kind].moved = true;
    clearTimeout(this.settling);
    this.settling = setTimeout(() => { this.settling = null; this.render(); }, SETTLE);
    this.render();
  }
  zoom(factor, [x, y] = [this.look.width / 2, this.look.height / 2]) {
    const { camera } = this.picture, least = this.kind === "matrix" ? 1 : (this.picture.fitted || 1) / 5;
    const most = this.kind === "matrix" ? 20 : (this.picture.fitted || 1) * 40;
    const zoom = Math.min(most, Math.max(least, camera.zoom * factor));
    if (this.kind === "graph") {
      const [dx, dy] = [x - this.look.width / 2, y - this.look.height / 2];
      camera.x += dx / camera.zoom - dx / zoom;
      camera.y += dy / camera.zoom - dy / zoom;
      camera.zoom = zoom;
    } else {
      const { gutter, sides } = this.picture, from = [x - gutter, y - gutter * 0.85];
      const [column, row] = from.map((value, i) => value / sides[i]);
      camera.x += column * (1 - camera.zoom / zoom);
      camera.y += row * (1 - camera.zoom / zoom);
      camera.zoom = zoom;
      this.bound();
    }
    this.settle();
  }
  pan(dx, dy) {
    const { camera } = this.picture, [wide, high] = this.kind === "graph" ? [camera.zoom, camera.zoom] : this.picture.sides;
    camera.x -= dx / wide;
    camera.y -= dy / high;
    this.bound();
    this.settle();
  }
  bound() {
    if (this.kind !== "matrix") return;
    const { camera, order } = this.picture, most = order.length * (1 - 1 / camera.zoom);
    camera.x = Math.min(Math.max(camera.x, 0), Math.max(0, most));
    camera.y = Math.min(Math.max(camera.y, 0), Math.max(0, most));
  }
  fly(to) {
    const { camera } = this.picture, from = { ...camera }, begun = performance.now();
    const still = matchMedia("(prefers-reduced-motion: reduce)").matches ? 0 : FLIGHT;
    this.flying = true;
    const step = (now) => {
      const share = still ? Math.min(1, (now - begun) / still) : 1, eased = 1 - (1 - share) ** 3;
      for (const axis of ["x", "y"]) camera[axis] = from[axis] + (to[axis] - from[axis]) * eased;
      camera.zoom = from.zoom * (to.zoom / from.zoom) ** eased;
      this.bound();
      this.flying = share < 1;
      this.settle();
      if (share < 1) requestAnimationFrame(step);
    };
    requestAnimationFrame(step);
  }
  // Keep what the keyboard is on in sight.
  follow(item) {
    if (this.kind === "matrix" && this.picture.camera.zoom === 1) return;
    const to = this.picture.view(item), { camera } = this.picture, { width, height } = this.look;
    if (this.kind === "graph") {
      const [x, y] = this.picture.screen(to);
      if (x > 30 && y > 30 && x < width - 30 && y < height - 30) return;
    }
    this.fly({ ...to, zoom: camera.zoom });
  }
  say(text) { this.at(".live").textContent = text.replace(/\n/g, ". "); }
  attend(item) {
    this.focus = item;
    if (item) {
      this.say(this.model.describe(item));
      this.follow(item);
    }
    this.render();
  }
  select(item) {
    if (item?.kind === "relation") {
      this.choose(this.model.shown, item.id);
      return;
    }
    this.selected = item;
    if (item) this.focus = item;
    this.send("selected", item);
    this.keep();
    this.say(item ? `Selected: ${this.model.describe(item)}` : "Nothing selected");
    this.render();
  }
  // In the address, so that a link or a reload shows it; no entry of the history for each click.
  keep() {
    const url = new URL(window.location.href), item = this.selected;
    if (item) url.searchParams.set(this.address, `${item.kind} ${item.id}`);
    else url.searchParams.delete(this.address);
    if (url.href !== window.location.href) window.history.replaceState(window.history.state, "", url);
  }
  choose(shown, relation) {
    this.model.facets = relation === -2;
    this.model.show(shown, relation < 0 ? -1 : relation);
    this.relationName = this.model.relations[relation];
    for (const picture of Object.values(this.pictures)) picture.renew(this.model);
    this.hover = this.focus = null;
    this.at(".relation").value = String(relation);
    this.say(`${this.kind === "graph" ? this.model.visible.length : this.model.chosen.length} facts drawn`);
    this.render();
  }
  seek(label) {
    const sought = label.trim().toLowerCase();
    if (!sought) return;
    const { nodes } = this.model, names = nodes.map((node) => node.label.toLowerCase());
    let at = names.indexOf(sought);
    if (at < 0) at = names.findIndex((name) => name.startsWith(sought));
    if (at < 0) at = names.findIndex((name) => name.includes(sought));
    if (at < 0) { this.say(`No entity ${label} in this drawing`); return; }
    const item = { kind: "node", id: nodes[at].id };
    this.fly(this.picture.view(item));
    this.select(item);
  }
  turn(kind) {
    this.kind = kind;
    this.kept = true;
    this.hover = this.focus = null;
    if (kind === "graph" && this.model.facets) this.choose(this.model.shown, -1);
    this.tools();
    this.resize();
    this.send("view", kind);
  }
  // What is on the screen, with its legend and where it comes from, in a file.
  save(extension) {
    const { look, model } = this, { width, height, ground, ink } = look, lower = LEGEND_HEIGHT + 24;
    const name = `${model.name}-${this.kind}.${extension}`;
    const foot = (pen) => {
      this.explain(pen);
      pen.text(model.caption, [12, LEGEND_HEIGHT + 10], { colour: ink, size: 11 });
    };
    if (extension === "svg") {
      const [pen, below] = [new SvgPen(), new SvgPen()];
      this.picture.save(pen);
      foot(below);
      pen.parts.push(`<rect y="${tidy(height)}" width="100%" height="${lower}" fill="${ground}"/>`,
        `<g transform="translate(0 ${tidy(height)})">${below.parts.join("")}</g>`);
      hand(new Blob([pen.svg(width, height + lower, ground)], { type: "image/svg+xml" }), name);
      return;
    }
    const canvas = document.createElement("canvas"), context = canvas.getContext("2d"), fine = 2;
    [canvas.width, canvas.height] = [width * fine, (height + lower) * fine];
    const pen = new CanvasPen(context), box = (top, bottom) => [[0, top], [width, top], [width, bottom], [0, bottom]];
    context.scale(fine, fine);
    pen.area(box(0, height), { colour: ground });
    this.picture.save(pen);
    pen.area(box(height, height + lower), { colour: ground });
    context.translate(0, height);
    foot(pen);
    canvas.toBlob((blob) => hand(blob, name), "image/png");
  }
  point(event) {
    const box = this.stage.getBoundingClientRect();
    return [event.clientX - box.left, event.clientY - box.top];
  }
  listen() {
    const { stage } = this, on = (target, name, act, options) => target.addEventListener(name, act, options);
    on(stage, "pointerdown", (event) => this.press(event));
    on(stage, "pointermove", (event) => this.drag(event));
    for (const name of ["pointerup", "pointercancel"]) on(stage, name, (event) => this.lift(event));
    on(stage, "pointerleave", () => { if (!this.pointers.size) this.hint(null); });
    on(stage, "wheel", (event) => this.wheel(event), { passive: false });
    on(stage, "dblclick", (event) => this.expand(this.picture.hit(this.point(event), 4)));
    on(stage, "keydown", (event) => this.key(event));
    on(stage, "focus", () => { if (!this.focus) this.attend(this.selected ?? this.picture.start()); this.render(); });
    on(stage, "blur", () => this.render());
    on(this.at(".shown"), "change", (event) => {
      this.choose(event.target.value, this.model.relation);
      this.send("facts", event.target.value);
    });
    on(this.at(".relation"), "change", (event) => this.choose(this.model.shown, Number(event.target.value)));
    on(this.at(".find"), "change", (event) => this.seek(event.target.value));
    for (const button of this.root.querySelectorAll("[data-view]")) on(button, "click", () => this.turn(button.dataset.view));
    const acts = { closer: () => this.zoom(1.4), farther: () => this.zoom(1 / 1.4), fit: () => this.fly(this.picture.frame()),
      png: () => this.save("png"), svg: () => this.save("svg") };
    for (const button of this.root.querySelectorAll("[data-do]")) on(button, "click", acts[button.dataset.do]);
  }
  expand(item) { if (this.model.expandable && item?.kind === "node") this.trigger("expand", item.id); }
  press(event) {
    const at = this.point(event);
    this.pointers.set(event.pointerId, at);
    this.moved = this.pointers.size > 1 ? Infinity : 0;
    this.grabbed = event.pointerType === "mouse" ? this.picture.hit(at, 4) : null;
    this.begun = at;
    if (event.pointerType === "mouse") this.stage.setPointerCapture(event.pointerId);
  }
  drag(event) {
    const at = this.point(event), before = this.pointers.get(event.pointerId);
    if (!before) { this.hint(this.picture.hit(at, 4), at); return; }
    const [dx, dy] = [at[0] - before[0], at[1] - before[1]];
    if (this.pointers.size === 2) {
      const other = [...this.pointers].find(([id]) => id !== event.pointerId)[1];
      const far = (point) => Math.hypot(point[0] - other[0], point[1] - other[1]) || 1;
      this.zoom(far(at) / far(before), at.map((value, i) => (value + other[i]) / 2));
      this.pan(dx / 2, dy / 2);
    } else {
      this.moved = Math.max(this.moved, Math.hypot(at[0] - this.begun[0], at[1] - this.begun[1]));
      if (this.moved > CLICK) {
        this.hint(null);
        this.stage.classList.add("grabbing");
        if (this.picture.grab(this.grabbed, at)) this.settle();
        else if (event.pointerType === "mouse" || Math.abs(dx) > Math.abs(dy)) this.pan(dx, event.pointerType === "mouse" ? dy : 0);
      }
    }
    this.pointers.set(event.pointerId, at);
  }
  lift(event) {
    const known = this.pointers.delete(event.pointerId);
    this.stage.classList.remove("grabbing");
    this.picture.release();
    if (known && event.type === "pointerup" && this.moved <= CLICK) {
      const item = this.picture.hit(this.point(event), event.pointerType === "mouse" ? 4 : 12);
      this.select(item && same(item, this.selected) ? null : item);
      if (event.pointerType !== "mouse") this.hint(item, this.point(event));
    }
    this.render();
  }
  hint(item, at) {
    this.stage.classList.toggle("over", Boolean(item));
    const tip = this.at(".tip");
    tip.hidden = !item;
    if (item) {
      tip.textContent = this.model.describe(item);
      const { width, height } = this.look;
      tip.style.left = `${Math.min(at[0] + 14, Math.max(4, width - tip.offsetWidth - 4))}px`;
      tip.style.top = `${at[1] + 18 + tip.offsetHeight > height ? Math.max(4, at[1] - tip.offsetHeight - 10) : at[1] + 18}px`;
    }
    if (!same(item, this.hover)) { this.hover = item; this.render(); }
  }
  wheel(event) {
    const free = event.ctrlKey || event.metaKey || this.root.activeElement === this.stage;
    const note = this.at(".wheel");
    note.hidden = free;
    clearTimeout(this.noted);
    this.noted = setTimeout(() => { note.hidden = true; }, 1200);
    if (!free) return;
    event.preventDefault();
    this.zoom(Math.exp(-Math.max(-60, Math.min(60, event.deltaY)) * 0.004), this.point(event));
  }
  key(event) {
    const ways = { ArrowLeft: [-1, 0], ArrowRight: [1, 0], ArrowUp: [0, -1], ArrowDown: [0, 1] };
    if (event.ctrlKey || event.metaKey || event.altKey) return;
    const from = this.focus ?? this.picture.start(), acts = {
      Enter: () => from && this.select(from), " ": () => from && this.select(from),
      Escape: () => this.select(null), "+": () => this.zoom(1.4), "=": () => this.zoom(1.4),
      "-": () => this.zoom(1 / 1.4), 0: () => this.fly(this.picture.frame()),
      ".": () => from && this.attend(this.picture.cycle(from, 1)),
      ",": () => from && this.attend(this.picture.cycle(from, -1)),
      e: () => this.expand(from), "/": () => this.at(".find").focus(),
    };
    const act = ways[event.key] ? () => from && this.attend(this.picture.step(from, ways[event.key])) : acts[event.key];
    if (!act) return;
    event.preventDefault();
    this.hint(null);
    act();
  }
}

function fillOptions(select, options, chosen) {
  select.replaceChildren(...options.map(([value, text]) => new Option(text, value)));
  select.value = chosen;
}

function hand(blob, name) {
  const link = document.createElement("a");
  link.href = URL.createObjectURL(blob);
  link.download = name;
  link.click();
  setTimeout(() => URL.revokeObjectURL(link.href), 10000);
}

export default function (component) {
  const { parentElement: root, key } = component, views = (globalThis.kgdashGraphs ??= new Map());
  const begun = !root.kgView, former = begun ? views.get(key) : null;
  root.kgView ??= new View(root, former);
  views.set(key, root.kgView);
  root.kgView.update(component);
  if (begun && root.kgView.selected) component.setStateValue("selected", root.kgView.selected);
}
