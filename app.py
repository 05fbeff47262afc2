"""kgdash: see where a knowledge-graph embedding can be trusted. Start: streamlit run app.py."""

import streamlit as st

from kgdash.ui.navigation import navigation
from kgdash.ui.run_picker import pick_run

st.set_page_config(page_title="kgdash", page_icon=":material/hub:", layout="wide")

page = navigation()
pick_run()
page.run()
