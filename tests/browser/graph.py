"""Using the drawing of a graph the way a person does."""

from playwright.sync_api import Locator, Page

from tests.browser.driver import settle, widget

_READ = """(stage, what) => {
    const view = stage.getRootNode().kgView, box = stage.getBoundingClientRect();
    const {graph, matrix} = view.pictures, on = ([x, y]) => ({x: box.left + x, y: box.top + y});
    return {
        nodes: () => view.model.nodes.map(node =>
            ({id: node.id, at: [node.x, node.y], ...on(graph.screen(node))})),
        edges: () => view.model.edges.map(edge =>
            ({id: edge.id, ...on(along(graph.path(edge), 0.45))})),
        cells: () => [...view.model.cells.keys()].map(id => {
            const [x, y] = matrix.corner(...matrix.place(id)), [wide, high] = matrix.sides;
            return {id, ...on([x + wide / 2, y + high / 2])}; }),
        camera: () => ({...view.picture.camera}),
        kind: () => view.kind,
        selected: () => view.selected,
        hits: () => view.model.edges.map(edge => graph.hit(along(graph.path(edge), 0.45), 4)?.id),
    }[what]();
    function along([p, c, d, q], t) {
        const s = 1 - t;
        return p.map((v, i) => !d ? v + t * (c[i] - v)
            : s * s * s * v + 3 * s * s * t * c[i] + 3 * s * t * t * d[i] + t * t * t * q[i]);
    }
}"""


class Graph:
    """A drawing on a page: where its parts are on the screen, clicks and keys."""

    def __init__(self, tab: Page, key: str):
        self.tab, self.root = tab, widget(tab, key)
        self.stage = self.root.locator(".stage")

    def read(self, what: str):
        """Return something of what is drawn, once it is."""
        self.stage.scroll_into_view_if_needed()
        self.root.locator(".stage[data-drawn]:not([data-drawn=''])").wait_for()
        return self.stage.evaluate(_READ, what)

    def nodes(self) -> list[dict]:
        return self.read("nodes")

    def edges(self) -> list[dict]:
        return self.read("edges")

    def cells(self) -> list[dict]:
        return self.read("cells")

    def camera(self) -> dict:
        return self.read("camera")

    def kind(self) -> str:
        return self.read("kind")

    def selected(self) -> dict | None:
        return self.read("selected")

    def clickable_edge(self) -> dict:
        """Return an edge that no other lies over, where it will be clicked."""
        return next(
            edge
            for edge, hit in zip(self.edges(), self.read("hits"), strict=True)
            if hit == edge["id"]
        )

    def click(self, part: dict) -> None:
        self.tab.mouse.click(part["x"], part["y"])
        settle(self.tab)

    def said(self) -> str:
        """Return what a screen reader says last."""
        return self.root.locator(".live").text_content()

    def button(self, name: str) -> Locator:
        return self.root.get_by_role("button", name=name, exact=True)

    def press(self, name: str) -> None:
        self.button(name).click()

    def find(self, label: str) -> None:
        field = self.root.locator(".find")
        field.fill(label)
        field.press("Enter")

    def wait_for_nodes(self, count: int) -> None:
        self.tab.wait_for_function(
            "([stage, count]) => stage.getRootNode().kgView.model.nodes.length === count",
            arg=[self.stage.element_handle(), count],
        )
