
const night = matchMedia("(prefers-color-scheme: dark)");
const charts = [...document.querySelectorAll("[data-chart]")];

function ink(printing) {
  return night.matches && !printing ? "#e6e9ed" : "#1b1f24";
}

/* What a sheet of A4 or Letter has room for, in pixels. */
const SHEET = 680;

function colour(printing = false) {
  const room = document.querySelector("main").clientWidth;
  for (const chart of charts.filter(chart => chart.data)) {
    const width = printing ? chart.clientWidth * Math.min(1, SHEET / room) : null;
    Plotly.relayout(chart, {"font.color": ink(printing), width, autosize: !printing});
  }
}

function draw(chart) {
  const name = chart.dataset.chart;
  const {data, layout} = JSON.parse(document.getElementById(`chart-${name}`).textContent);
  layout.font = {...layout.font, color: ink(false), family: "system-ui, sans-serif"};
  const image = {filename: name, format: "svg"};
  Plotly.newPlot(chart, data, layout, {responsive: true, displaylogo: false, toImageButtonOptions: image});
}

function sortBy(header) {
  const body = header.closest("table").tBodies[0];
  const place = header.cellIndex;
  const down = header.getAttribute("aria-sort") === "ascending";
  const value = row => row.cells[place].dataset.value;
  const numeric = header.classList.contains("number");
  const compare = (a, b) => {
    const [x, y] = [value(a), value(b)];
    if (x === "" || y === "") return (x === "") - (y === "");
    const order = numeric ? Number(x) - Number(y) : x.localeCompare(y);
    return down ? -order : order;
  };
  for (const other of header.parentNode.cells) other.removeAttribute("aria-sort");
  header.setAttribute("aria-sort", down ? "descending" : "ascending");
  body.append(...[...body.rows].sort(compare));
}

/* Python's base 85, with "," for "<". */
const DIGITS = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz!#$%&()*+-;,=>?@^_`{|}~";

/* The library is packed, and runs as the policy of this page knows it. */
async function unpack() {
  const {textContent: packed, dataset} = document.getElementById("library");
  const bytes = new Uint8Array(packed.length / 5 * 4), view = new DataView(bytes.buffer);
  const value = new Uint8Array(128);
  [...DIGITS].forEach((digit, place) => value[digit.charCodeAt(0)] = place);
  for (let from = 0, to = 0; from < packed.length; from += 5, to += 4) {
    let word = 0;
    for (let i = 0; i < 5; i++) word = word * 85 + value[packed.charCodeAt(from + i)];
    view.setUint32(to, word);
  }
  const stream = new Blob([bytes.subarray(0, dataset.bytes)]).stream().pipeThrough(new DecompressionStream("gzip"));
  const library = document.createElement("script");
  library.textContent = await new Response(stream).text();
  document.head.append(library);
}

unpack().then(() => charts.forEach(draw));
night.addEventListener("change", () => colour());
addEventListener("beforeprint", () => {
  for (const part of document.querySelectorAll("details")) part.open = true;
  colour(true);
});
addEventListener("afterprint", () => colour());
document.addEventListener("click", event => {
  const button = event.target.closest("th button");
  if (button) sortBy(button.closest("th"));
});
