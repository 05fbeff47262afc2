"""kgdash: see where a knowledge-graph embedding can be trusted. Start: streamlit run app.py."""

from starlette.middleware import Middleware
from streamlit.starlette import App

from kgdash.ui.runtime.preloading import Preloading
from kgdash.ui.runtime.protection import Protection

app = App("dashboard.py", middleware=[Middleware(Protection), Middleware(Preloading)])
