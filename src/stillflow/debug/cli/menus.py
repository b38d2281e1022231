"""The menu above what the commands show."""

from __future__ import annotations

from stillflow.debug.cli.rich_text import MAIN_MENU_KEY, Menu, MenuItem

_OF_NODES = {
    "node_info": "node_info -a -d -t", "print_tensor": "print_tensor", "list_inputs": "list_inputs -c -r",
    "list_outputs": "list_outputs -c -r",
}  # fmt: skip


def add_main_menu(output, node_name=None, without=()):
    """Adds the menu to RichTextLines: commands about a node, if there is one, but for those in `without`."""
    menu = Menu()
    menu.append(MenuItem("list_tensors", "list_tensors", enabled="list_tensors" not in without))
    for caption, command in _OF_NODES.items():
        content = f"{command} {node_name}" if node_name else None
        menu.append(MenuItem(caption, content, enabled=bool(node_name) and caption not in without))
    menu.append(MenuItem("run_info", "run_info"))
    menu.append(MenuItem("help", "help"))
    output.annotations[MAIN_MENU_KEY] = menu
    return output
