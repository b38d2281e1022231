"""DebugAnalyzer: the commands that look through the dumps of a run."""

from __future__ import annotations

from stillflow.debug.cli import arguments, command_parser, node_views, screens, source_views, tensor_lists, ui_factory
from stillflow.debug.cli.config import CLIConfig
from stillflow.debug.cli.evaluator import ExpressionEvaluator
from stillflow.debug.cli.menus import add_main_menu
from stillflow.debug.cli.rich_text import MenuItem, RichTextLines
from stillflow.debug.dumps.element_names import get_node_name, parse_node_or_tensor_name
from stillflow.names import public_module

public_module("python.debug.cli.analyzer_cli")

# {command: (alias, the method that carries it out)}
_COMMANDS = {
    "list_tensors": ("lt", "list_tensors"), "node_info": ("ni", "node_info"), "list_inputs": ("li", "list_inputs"),
    "list_outputs": ("lo", "list_outputs"), "print_tensor": ("pt", "print_tensor"),
    "print_source": ("ps", "print_source"), "list_source": ("ls", "list_source"),
    "eval": ("ev", "evaluate_expression"),
}  # fmt: skip


class DebugAnalyzer:
    """Commands over a DebugDumpDir. Each takes a list of words and returns RichTextLines.

    Args:
      debug_dump: the DebugDumpDir.
      config: a CLIConfig.
    """

    def __init__(self, debug_dump, config):
        self._dump = debug_dump
        self._evaluator = ExpressionEvaluator(debug_dump)
        self._filters: dict = {}
        self._make_parsers(config)
        config.set_callback("graph_recursion_depth", self._make_parsers)

    def _make_parsers(self, config):
        self._parsers = arguments.parsers(config.get("graph_recursion_depth"))

    def add_tensor_filter(self, filter_name, filter_callable):
        """Adds a filter for list_tensors, a function of (DebugTensorDatum, value).

        Raises TypeError if the name is no text or the filter no function, ValueError for an empty name.
        """
        if not isinstance(filter_name, str):
            raise TypeError("Input argument filter_name is expected to be str, but is not.")
        if not filter_name:
            raise ValueError("Input argument filter_name cannot be empty.")
        if not callable(filter_callable):
            raise TypeError("Input argument filter_callable is expected to be callable, but is not.")
        self._filters[filter_name] = filter_callable

    def get_tensor_filter(self, filter_name):
        """The filter of a name. Raises ValueError if there is none."""
        if filter_name not in self._filters:
            raise ValueError(f'There is no tensor filter named "{filter_name}"')
        return self._filters[filter_name]

    def get_help(self, handler_name):
        """The help of a command."""
        return self._parsers[handler_name].format_help()

    def list_tensors(self, args, screen_info=None):
        """Lists dumps."""
        parsed = self._parsers["list_tensors"].parse_args(args)
        if not parsed.tensor_filter:
            if parsed.filter_exclude_node_names:
                raise ValueError(
                    "The flag --filter_exclude_node_names is valid only when the flag -f or --tensor_filter is used."
                )
            data = self._dump.dumped_tensor_data
        elif parsed.tensor_filter in self._filters:
            wanted = self._filters[parsed.tensor_filter]
            data = self._dump.find(wanted, exclude_node_names=parsed.filter_exclude_node_names)
        else:
            output = screens.error(f'There is no tensor filter named "{parsed.tensor_filter}".')
            return add_main_menu(output, without=("list_tensors",))
        return add_main_menu(tensor_lists.list_tensors(self._dump, parsed, data), without=("list_tensors",))

    def node_info(self, args, screen_info=None):
        """Tells of a node."""
        parsed = self._parsers["node_info"].parse_args(args)
        node_name = get_node_name(parsed.node_name)
        if not self._dump.node_exists(node_name):
            return add_main_menu(self._no_node(node_name))
        return add_main_menu(node_views.node_info(self._dump, node_name, parsed), node_name, ("node_info",))

    @staticmethod
    def _no_node(node_name):
        return screens.error(f'There is no node named "{node_name}" in the partition graphs')

    def list_inputs(self, args, screen_info=None):
        """Lists the inputs of a node."""
        return self._neighbors("list_inputs", args, is_of_outputs=False)

    def list_outputs(self, args, screen_info=None):
        """Lists what takes the outputs of a node."""
        return self._neighbors("list_outputs", args, is_of_outputs=True)

    def _neighbors(self, command, args, is_of_outputs):
        parsed = self._parsers[command].parse_args(args)
        node_name = get_node_name(parsed.node_name)
        output = self._no_node(node_name)
        if self._dump.node_exists(node_name):
            output = node_views.NeighborTree(self._dump, parsed, is_of_outputs).lines(node_name)
        return add_main_menu(output, node_name, (command,))

    def print_tensor(self, args, screen_info=None):
        """Prints the value of a tensor."""
        parsed = self._parsers["print_tensor"].parse_args(args)
        tensor_name, slicing = command_parser.parse_tensor_name_with_slicing(parsed.tensor_name)
        node_name, slot = parse_node_or_tensor_name(tensor_name)
        without = ("print_tensor",)
        if self._dump.loaded_partition_graphs() and not self._dump.node_exists(node_name):
            return add_main_menu(screens.error(f'Node "{node_name}" does not exist in partition graphs'))
        data = [d for key in self._dump.debug_watch_keys(node_name) for d in self._dump.watch_key_to_data(key)]
        slots = {datum.output_slot for datum in data}
        if slot is None and len(slots) != 1:
            lines = [
                f'Node "{node_name}" generated debug dumps from {len(slots)} output slots:',
                f"Please specify the output slot: {node_name}:x.",
            ]
            return add_main_menu(RichTextLines(lines), node_name, without)
        data = [datum for datum in data if slot is None or datum.output_slot == slot]
        if not data:
            return screens.error(f'Tensor "{parsed.tensor_name}" did not generate any dumps.')
        return add_main_menu(self._print(parsed, data, slicing, screen_info), node_name, without)

    def _print(self, parsed, data, slicing, screen_info):
        number = parsed.number
        if len(data) > 1 and number < 0:
            return self._list_dumps(parsed.tensor_name, data)
        if len(data) == 1 and number > 0:
            return screens.error(
                f"Invalid number ({number}) for tensor {parsed.tensor_name}, which generated one dump."
            )
        if number >= len(data):
            return screens.error(
                f"Specified number ({number}) exceeds the number of available dumps ({len(data)}) for tensor "
                f"{parsed.tensor_name}"
            )
        datum = data[max(0, number)]
        return screens.format_tensor(
            datum.get_tensor(), datum.watch_key + (f" (dump #{number})" if len(data) > 1 else ""),
            screens.numpy_printoptions_from_screen_info(screen_info), print_all=parsed.print_all,
            tensor_slicing=slicing, highlight_options=screens.parse_ranges_highlight(parsed.ranges),
            include_numeric_summary=parsed.numeric_summary, write_path=parsed.write_path,
        )  # fmt: skip

    def _list_dumps(self, tensor_name, data):
        output = RichTextLines([f'Tensor "{tensor_name}" generated {len(data)} dumps:'])
        for i, datum in enumerate(data):
            line = f"#{i} [{(datum.timestamp - self._dump.t0) / 1000.0:.3f} ms] {datum.watch_key}"
            item = MenuItem(None, f"print_tensor {tensor_name} -n {i}")
            output.append(line, [(len(line) - len(datum.watch_key), len(line), item)])
        output.append("")
        output.append("You can use the -n (--number) flag to specify which dump to print.")
        output.append("For example:")
        output.append(f"  print_tensor {tensor_name} -n 0")
        return output

    def print_source(self, args, screen_info=None):
        """Prints a file of the program."""
        return add_main_menu(source_views.print_source(self._dump, self._parsers["print_source"].parse_args(args)))

    def list_source(self, args, screen_info=None):
        """Lists files of the program."""
        output, has_files = source_views.list_source(self._dump, self._parsers["list_source"].parse_args(args))
        return add_main_menu(output) if has_files else output

    def evaluate_expression(self, args, screen_info=None):
        """Prints the value of an expression."""
        parsed = self._parsers["eval"].parse_args(args)
        return screens.format_tensor(
            self._evaluator.evaluate(parsed.expression), f"from eval of expression '{parsed.expression}'",
            screens.numpy_printoptions_from_screen_info(screen_info), print_all=parsed.print_all,
            include_numeric_summary=True, write_path=parsed.write_path,
        )  # fmt: skip


def create_analyzer_ui(debug_dump, tensor_filters=None, ui_type="curses", on_ui_exit=None, config=None):
    """A command line with these commands.

    Args:
      debug_dump: a DebugDumpDir.
      tensor_filters: {name: filter} for list_tensors.
      ui_type: "curses" or "readline".
      on_ui_exit: a function that is called at its end.
      config: a CLIConfig.

    Raises ValueError for another `ui_type`.
    """
    config = config or CLIConfig()
    analyzer = DebugAnalyzer(debug_dump, config)
    for name, tensor_filter in (tensor_filters or {}).items():
        analyzer.add_tensor_filter(name, tensor_filter)
    cli = ui_factory.get_ui(ui_type, on_ui_exit=on_ui_exit, config=config)
    for command, (alias, method) in _COMMANDS.items():
        cli.register_command_handler(command, getattr(analyzer, method), analyzer.get_help(command), [alias])
    names = [datum.tensor_name for datum in debug_dump.dumped_tensor_data]
    cli.register_tab_comp_context(["print_tensor", "pt"], names)
    return cli
