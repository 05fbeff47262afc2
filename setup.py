"""The packages of kgdash; pyproject.toml says the rest.

The dashboard lies beside the package here, since Streamlit starts app.py; installed, it lies in it.
An editable installation finds it here: the folders would be packages without __init__.py, for which
setuptools puts a relative path before all modules, and whoever made the working folder has it run
what is there.
"""

import sys

from setuptools import find_packages, setup
from setuptools.command.build_py import build_py


class Build(build_py):
    """Leaves this file out, which lies where the dashboard does."""

    def find_package_modules(self, package: str, package_dir: str) -> list:
        """List (package, module, file)."""
        modules = super().find_package_modules(package, package_dir)
        return [module for module in modules if module[1] != "setup"]


DASHBOARD = {"kgdash.dashboard": ".", "kgdash.dashboard.pages": "pages"}

setup(
    packages=[
        *find_packages(include=["kgdash*"]),
        *([] if "editable_wheel" in sys.argv else DASHBOARD),
    ],
    package_dir=DASHBOARD,
    cmdclass={"build_py": Build},
)
