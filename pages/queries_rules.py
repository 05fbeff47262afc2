"""Does ReliK tell true answers from false ones?"""

import streamlit as st

st.title("Queries and rules")
