"""What is read of a Parquet file before PyArrow reads it.

Imports: errors. Start at `pages.py`; `thrift.py` is the notation of its footer and pages.
"""
