// Two pens with one interface: what is drawn with one on the screen, the other writes as SVG.
// A path is [[x, y], c, c, [x, y]] (cubic) or [[x, y], [x, y]]; lengths in pixels.

const FONT = "ui-sans-serif, system-ui, 'Segoe UI', Helvetica, Arial, sans-serif";

class CanvasPen {
  constructor(context) { this.context = context; }
  line(path, { colour, width = 1, dash = null, alpha = 1 }) {
    const c = this.context;
    c.globalAlpha = alpha;
    c.strokeStyle = colour;
    c.lineWidth = width;
    c.setLineDash(dash || []);
    c.beginPath();
    c.moveTo(...path[0]);
    if (path.length === 2) c.lineTo(...path[1]);
    else c.bezierCurveTo(...path[1], ...path[2], ...path[3]);
    c.stroke();
  }
  area(points, { colour, alpha = 1 }) {
    const c = this.context;
    c.globalAlpha = alpha;
    c.fillStyle = colour;
    c.beginPath();
    points.forEach((point, i) => (i ? c.lineTo(...point) : c.moveTo(...point)));
    c.closePath();
    c.fill();
  }
  circle([x, y], radius, { colour, edge = null, width = 1, alpha = 1 }) {
    const c = this.context;
    c.globalAlpha = alpha;
    c.beginPath();
    c.arc(x, y, radius, 0, 7);
    if (colour) { c.fillStyle = colour; c.fill(); }
    if (edge) { c.setLineDash([]); c.strokeStyle = edge; c.lineWidth = width; c.stroke(); }
  }
  text(text, [x, y], { colour, size = 11, bold = false, align = "left", turn = 0, halo = null,
    alpha = 1 }) {
    const c = this.context;
    c.globalAlpha = alpha;
    c.save();
    c.translate(x, y);
    if (turn) c.rotate(turn);
    c.font = `${bold ? "600 " : ""}${size}px ${FONT}`;
    c.textAlign = align;
    c.textBaseline = "middle";
    if (halo) {
      c.setLineDash([]);
      c.lineJoin = "round";
      c.lineWidth = 3;
      c.strokeStyle = halo;
      c.strokeText(text, 0, 0);
    }
    c.fillStyle = colour;
    c.fillText(text, 0, 0);
    c.restore();
  }
}

class SvgPen {
  constructor() { this.parts = []; }
  put(tag, attributes, inner = "") {
    const written = Object.entries(attributes)
      .filter(([, value]) => value !== null && value !== undefined)
      .map(([name, value]) => ` ${name}="${escaped(typeof value === "number" ? tidy(value) : value)}"`);
    this.parts.push(`<${tag}${written.join("")}>${inner}</${tag}>`);
  }
  line(path, { colour, width = 1, dash = null, alpha = 1 }) {
    const [first, ...rest] = path.map(([x, y]) => `${tidy(x)} ${tidy(y)}`);
    const d = `M${first}${rest.length === 1 ? "L" : "C"}${rest.join(" ")}`;
    const more = { "stroke-dasharray": dash && dash.join(" "), opacity: alpha };
    this.put("path", { d, fill: "none", stroke: colour, "stroke-width": width, ...more });
  }
  area(points, { colour, alpha = 1 }) {
    const written = points.map((point) => point.map(tidy).join(",")).join(" ");
    this.put("polygon", { points: written, fill: colour, opacity: alpha });
  }
  circle([cx, cy], r, { colour, edge = null, width = 1, alpha = 1 }) {
    const outline = edge ? { stroke: edge, "stroke-width": width } : {};
    this.put("circle", { cx, cy, r, fill: colour || "none", opacity: alpha, ...outline });
  }
  text(text, [x, y], { colour, size = 11, bold = false, align = "left", turn = 0, halo = null,
    alpha = 1 }) {
    const place = `translate(${tidy(x)} ${tidy(y)})${turn ? ` rotate(${tidy((turn * 180) / Math.PI)})` : ""}`;
    const around = halo
      ? { stroke: halo, "stroke-width": 3, "stroke-linejoin": "round", "paint-order": "stroke" } : {};
    this.put("text", {
      transform: place, fill: colour, "font-family": FONT, "font-size": size, opacity: alpha,
      "font-weight": bold ? 600 : null, "dominant-baseline": "central",
      "text-anchor": { left: "start", center: "middle", right: "end" }[align], ...around,
    }, escaped(text));
  }
  svg(width, height, background = null) {
    const ground = background ? `<rect width="100%" height="100%" fill="${background}"/>` : "";
    const box = `width="${tidy(width)}" height="${tidy(height)}" viewBox="0 0 ${tidy(width)} ${tidy(height)}"`;
    return `<svg xmlns="http://www.w3.org/2000/svg" ${box}>${ground}${this.parts.join("")}</svg>`;
  }
}

function tidy(number) { return String(Math.round(number * 100) / 100); }

function escaped(text) {
  // XML can not hold control characters, however they are written.
  const held = String(text).replace(/[\u0000-\u0008\u000b\u000c\u000e-\u001f\ufffe\uffff]/g, "\ufffd");
  return held.replace(/[&<>"']/g, (sign) => `&#${sign.charCodeAt(0)};`);
}

const ruler = document.createElement("canvas").getContext("2d");
const widths = new Map();

function widthOf(text, size) {
  if (!widths.has(text)) {
    ruler.font = `100px ${FONT}`;
    widths.set(text, ruler.measureText(text).width / 100);
  }
  return widths.get(text) * size;
}

function cut(text, limit) { return text.length <= limit ? text : `${text.slice(0, limit - 1)}…`; }

function fitted(text, size, room) {
  let shown = text;
  while (shown.length > 1 && widthOf(shown, size) > room) shown = `${shown.slice(0, shown.length - 2)}…`;
  return shown;
}
