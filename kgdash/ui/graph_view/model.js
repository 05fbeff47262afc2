// What is drawn: entities, facts, which of them show, and what is said of each.

const same = (one, other) =>
  one === other || (one && other && one.kind === other.kind && one.id === other.id);

class Model {
  constructor(data) {
    const { facts, scale, ...rest } = data;
    Object.assign(this, rest);
    this.scale = new Scale(scale);
    this.nodes.forEach((node, index) => { node.index = index; });
    for (const edge of this.edges) {
      [edge.head, edge.tail] = [this.nodes[edge.a].id, this.nodes[edge.b].id];
      edge.id = `${edge.head} ${this.relation_ids[edge.r]} ${edge.tail}`;
    }
    this.edgeOf = new Map(this.edges.map((edge) => [edge.id, edge]));
    this.indexOf = new Map(this.nodes.map((node) => [node.id, node.index]));
    this.show(facts, -1);
  }
  // shown: "all", "least reliable", "most reliable"; relation: its number, -1 for all
  show(shown, relation) {
    Object.assign(this, { shown, relation });
    const value = (edge) => edge.relik ?? Infinity;
    let visible = this.edges.filter((edge) => relation < 0 || edge.r === relation);
    visible.sort((one, other) => value(other) - value(one));
    this.chosen = visible;
    if (shown !== "all") {
      const known = visible.filter((edge) => edge.relik !== null);
      visible = shown === "least reliable" ? known.slice(-this.few) : known.slice(0, this.few);
    }
    // The least reliable come last, so that none hides them.
    this.visible = visible;
    this.at = this.nodes.map(() => []);
    const pairs = new Map();
    for (const edge of visible) {
      this.at[edge.a].push(edge);
      if (edge.b !== edge.a) this.at[edge.b].push(edge);
      const key = Math.min(edge.a, edge.b) * this.nodes.length + Math.max(edge.a, edge.b);
      if (!pairs.has(key)) pairs.set(key, []);
      pairs.get(key).push(edge);
    }
    for (const side of pairs.values()) {
      side.forEach((edge, i) => { edge.lane = i - (side.length - 1) / 2; edge.lanes = side.length; });
    }
    this.cells = cellsOf(this.chosen);
  }
  node(item) { return this.nodes[this.indexOf.get(item.id)]; }
  // The facts that belong to what is chosen or pointed at.
  facts(item) {
    if (!item) return [];
    if (item.kind === "edge") return [this.edgeOf.get(item.id)];
    if (item.kind === "pair") return this.cells.get(item.id)?.edges ?? [];
    return this.at[this.indexOf.get(item.id)] ?? [];
  }
  exists(item) {
    if (!item) return false;
    if (item.kind === "edge") return this.edgeOf.has(item.id);
    return item.kind === "pair" ? this.cells.has(item.id) : this.indexOf.has(item.id);
  }
  triple(edge) {
    return `${this.nodes[edge.a].label} — ${this.relations[edge.r]} → ${this.nodes[edge.b].label}`;
  }
  describe(item) {
    if (item.kind === "relation") return this.relations[item.id];
    const facts = this.facts(item), mean = meanOf(facts);
    const value = mean === null ? "ReliK not known yet" : `ReliK ${digits(mean)}`;
    if (item.kind === "edge") return `${this.triple(facts[0])}\n${value}`;
    if (item.kind === "pair") {
      const lines = facts.slice(0, 6).map((edge) => this.triple(edge));
      const more = facts.length > 6 ? `\n… and ${facts.length - 6} more` : "";
      return `${lines.join("\n")}${more}\n${facts.length > 1 ? "mean " : ""}${value}`;
    }
    const node = this.node(item);
    const about = node.seed ? " (seed)" : node.added ? " (added)" : "";
    const count = `${facts.length} ${facts.length === 1 ? "fact" : "facts"} drawn`;
    return `${node.label}${about}\n${count}${facts.length ? `, mean ${value}` : ""}`;
  }
}

function cellsOf(edges) {
  const cells = new Map();
  for (const edge of edges) {
    const id = `${edge.head} ${edge.tail}`;
    if (!cells.has(id)) cells.set(id, { id, head: edge.a, tail: edge.b, edges: [] });
    cells.get(id).edges.push(edge);
  }
  for (const cell of cells.values()) cell.relik = meanOf(cell.edges);
  return cells;
}

function meanOf(edges) {
  const known = edges.filter((edge) => edge.relik !== null);
  return known.length ? known.reduce((sum, edge) => sum + edge.relik, 0) / known.length : null;
}

function digits(value) {
  return value >= 1e-3 ? value.toPrecision(3) : value.toExponential(2).replace(/\.?0+e/, "e");
}
