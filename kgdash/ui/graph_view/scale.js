// ReliK as colour, width and dash: logarithmic, grey at the run's median.

class Scale {
  // low, median, high: ReliK; stops: colours at equal steps; unknown: the colour without a value
  constructor({ low, median, high, stops, ticks, title, unknown }) {
    Object.assign(this, { stops, ticks, title, unknown, median });
    this.logs = [low, median, high].map(Math.log10);
  }
  place(value) {
    const [low, median, high] = this.logs, at = Math.log10(value);
    const share = at < median ? (at - low) / (median - low || 1) : 1 + (at - median) / (high - median || 1);
    return Math.min(1, Math.max(0, share / 2));
  }
  colour(value) { return value === null ? this.unknown : this.colourAt(this.place(value)); }
  colourAt(place) {
    const position = place * (this.stops.length - 1);
    const at = Math.min(Math.floor(position), this.stops.length - 2);
    const [from, to] = [this.stops[at], this.stops[at + 1]].map((stop) =>
      [1, 3, 5].map((i) => parseInt(stop.slice(i, i + 2), 16)));
    return `rgb(${from.map((c, i) => Math.round(c + (to[i] - c) * (position - at))).join(", ")})`;
  }
  // Beside the colour: far below the median dashed and wide, far above solid and wide.
  cue(value) {
    if (value === null) return { width: 1, dash: [1, 4] };
    const place = this.place(value);
    if (place < 0.25) return { width: 2.4, dash: [6, 4] };
    return { width: place > 0.75 ? 2.4 : 1.2, dash: null };
  }
}

const LEGEND_HEIGHT = 64;

function drawLegend(pen, scale, ink, width, isGraph, unknown = false) {
  const bar = Math.min(340, width - 30), left = 12, steps = 68;
  pen.text(scale.title, [left, 8], { colour: ink, size: 12 });
  for (let i = 0; i < steps; i++) {
    const [x, next] = [left + (bar * i) / steps, left + (bar * (i + 1)) / steps + 0.3];
    pen.area([[x, 18], [next, 18], [next, 28], [x, 28]], { colour: scale.colourAt((i + 0.5) / steps) });
  }
  let free = -1;
  const median = left + bar / 2;
  for (const { place, text, isMedian } of [...scale.ticks].sort((a, b) => b.isMedian - a.isMedian)) {
    const x = left + bar * place, half = widthOf(text, 11) / 2 + 3;
    if (!isMedian && Math.abs(x - median) < half + free) continue;
    if (isMedian) free = half;
    pen.line([[x, isMedian ? 14 : 28], [x, 33]], { colour: ink, width: isMedian ? 2 : 1 });
    pen.text(text, [Math.max(x, half), 40], { colour: ink, bold: isMedian, align: "center" });
  }
  const [low, middle, high] = scale.logs.map((log) => 10 ** log), y = 56;
  if (!isGraph) {
    const side = 11, corners = [[0, -1], [1, -1], [1, 0], [0, 0]].map(([u, v]) => [left + u * side, y + 5 + v * side]);
    pen.area(corners, { colour: scale.colour(low) });
    pen.line([corners[3], corners[1]], { colour: "#fff", width: 1.3 });
    pen.text("less reliable; a cell is the mean of its facts", [left + side + 6, y], { colour: ink });
    return;
  }
  const keys = [["less reliable", low], ["as usual", middle], ["more reliable", high],
    ...(unknown ? [["not known yet", null]] : [])];
  let x = left;
  for (const [text, value] of keys) {
    pen.line([[x, y], [x + 24, y]], { colour: scale.colour(value), ...scale.cue(value) });
    pen.text(text, [x + 29, y], { colour: ink });
    x += 29 + widthOf(text, 11) + 12;
  }
}
