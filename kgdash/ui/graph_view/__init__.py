"""The drawing of a graph that one can click, drag and walk through by keyboard.

A web component of our own, in plain JavaScript that is shipped here; nothing is fetched from
elsewhere. It was chosen after trying Cytoscape.js 3.34 and Sigma.js 3.0: with 500 entities and
2,000 facts, without a graphics card and beside other work, these drew 2 to 5 frames a second, the
component 34 to 48 (``benchmarks/graph_view.py``), since it moves the lines as one picture while one
zooms. Streamlit sends a component's script with its data: 60 kB instead of 430 kB. Keyboard, labels
that thin out, and saving as SVG would have been ours to write on top of either.

Imports: ui.widgets, charts and below. Start at `component.py`.
"""
