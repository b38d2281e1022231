"""LocalCLIDebugWrapperSession: a session that shows the debugger's command line before and after runs."""

from __future__ import annotations

import os
import shutil
import sys
import tempfile
from typing import Any

from stillflow.debug.cli import analyzer, command_parser, profile_views, run_arguments, screens, ui_factory
from stillflow.debug.cli.commands import EXPLICIT_USER_EXIT, CommandLineExit, get_tensorflow_version_lines
from stillflow.debug.cli.config import CLIConfig
from stillflow.debug.cli.rich_text import MAIN_MENU_KEY, MenuItem, RichTextLines
from stillflow.debug.dumps.dump_dir import DebugDumpDir, has_inf_or_nan
from stillflow.debug.run_keys import get_graph_element_name
from stillflow.debug.wrappers.requests import (
    OnRunEndResponse,
    OnRunStartAction,
    OnRunStartResponse,
    OnSessionInitAction,
    OnSessionInitResponse,
)
from stillflow.debug.wrappers.wrapper_session import BaseDebugWrapperSession
from stillflow.names import public

_NODE_COMMANDS = ["node_info", "ni", "list_inputs", "li", "list_outputs", "lo"]


@public(
    "python.debug.LocalCLIDebugWrapperSession",
    "python.debug.wrappers.local_cli_wrapper.LocalCLIDebugWrapperSession",
)
class LocalCLIDebugWrapperSession(BaseDebugWrapperSession):
    """Shows a command line before a run, which says how it is to be done, and after it, with what it has computed.

    Args:
      sess: a tf.Session or tf.train.MonitoredSession.
      dump_root: a folder for dumps, empty or not there; they are removed when they have been looked at.
      log_usage: not used.
      ui_type: "curses" for the whole screen, "readline" for lines.
      thread_name_filter: see BaseDebugWrapperSession.
      config_file_path: the file of the user's settings.

    Raises ValueError if `dump_root` is a file, or has files in it.
    """

    def __init__(
        self, sess, dump_root=None, log_usage=True, ui_type="curses", thread_name_filter=None, config_file_path=False
    ):
        super().__init__(sess, thread_name_filter)
        self._dump_root = _checked(os.path.expanduser(dump_root)) if dump_root else tempfile.mktemp(prefix="tfdbg_")
        self._ui_type = ui_type
        self._config = CLIConfig(config_file_path=config_file_path) if config_file_path else None
        self._tensor_filters: dict = {}
        self.add_tensor_filter("has_inf_or_nan", has_inf_or_nan)
        self._active_filter = None  # the name of the filter that runs go on for
        self._active_filter_excludes = None
        self._active_filter_response = None
        self._runs_left = 1  # until one is watched
        self._skips_debugging = False
        self._run_start_response = None  # what the user has said last
        self._is_run_start = True
        self._run_cli: Any = None
        self._screen: tuple = ()  # first command, title and its colour

    def _is_disk_usage_reset_each_run(self):
        return True

    def add_tensor_filter(self, filter_name, tensor_filter):
        """Adds a filter for "run -f" and "lt -f": a function of (DebugTensorDatum, value) that returns a bool."""
        self._tensor_filters[filter_name] = tensor_filter

    def on_session_init(self, request):
        """Goes on."""
        return OnSessionInitResponse(OnSessionInitAction.PROCEED)

    # ---- Before a run -------------------------------------------------------------------------------------------

    def on_run_start(self, request):
        """Asks the user, unless an earlier answer is good for this run. Exits with 1 if the user wants to."""
        self._is_run_start = True
        self._note_run(request)
        if self._active_filter:
            return self._active_filter_response
        self._exit_if_told()
        if self._run_call_count > 1 and not self._skips_debugging:
            if self._runs_left > 0:
                return OnRunStartResponse(OnRunStartAction.NON_DEBUG_RUN, [])
            if self._runs_left == 0:
                return self._run_start_response or self._watched()
        if self._run_start_response is None:
            self._prep_cli_for_run_start()
            self._run_start_response = self._launch_cli()
            if self._active_filter:
                self._active_filter_response = self._run_start_response
            if self._runs_left > 1:
                self._runs_left -= 1
        self._exit_if_told()
        return self._run_start_response

    def _note_run(self, request):
        run = request.run_call_count, request.fetches, request.feed_dict
        self._run_call_count = request.run_call_count
        self._feed_dict = request.feed_dict
        self._runs_left -= 1
        self._run_description = screens.get_run_short_description(*run, request.is_callable_runner)
        self._run_info = screens.get_run_start_intro(*run, self._tensor_filters, request.is_callable_runner)

    def _watched(self, **filters):
        return OnRunStartResponse(OnRunStartAction.DEBUG_RUN, [f"file://{self._dump_root}"], **filters)

    def _exit_if_told(self):
        if self._run_start_response == EXPLICIT_USER_EXIT:
            print("Note: user exited from debugger CLI: Calling sys.exit(1).", file=sys.stderr)
            sys.exit(1)

    def _first_lines(self):
        """What the first screen begins with."""
        lines = RichTextLines([])
        if self._run_call_count == 1:
            lines.extend(screens.get_tfdbg_logo())
            lines.extend(get_tensorflow_version_lines())
        return lines

    def _prep_cli_for_run_start(self):
        self._run_cli = ui_factory.get_ui(self._ui_type, config=self._config)
        intro = self._first_lines()
        intro.append("Upcoming run:")
        intro.extend(self._run_info)
        self._run_cli.set_help_intro(intro)
        self._screen = "run_info", f"run-start: {self._run_description}", "blue_on_white"

    # ---- After a run --------------------------------------------------------------------------------------------

    def on_run_end(self, request):
        """Shows what was computed, or how long it took. Raises the error of a run that has written nothing."""
        self._is_run_start = False
        if request.performed_action == OnRunStartAction.DEBUG_RUN:
            self._show_dumps(request)
        elif request.performed_action == OnRunStartAction.PROFILE_RUN:
            self._prep_profile_cli_for_run_end(self._sess.graph, request.run_metadata)
            self._run_start_response = self._launch_cli()
        else:
            self._run_start_response = None
        return OnRunEndResponse()

    def _show_dumps(self, request):
        if request.tf_error is not None and not os.path.isdir(self._dump_root):
            raise request.tf_error
        graphs = request.run_metadata.partition_graphs if request.run_metadata else None
        if not graphs and request.client_graph_def:
            graphs = [request.client_graph_def]
        dump = DebugDumpDir(self._dump_root, partition_graphs=graphs)
        dump.set_python_graph(self._sess.graph)
        passed, excluded = self._active_filter, self._active_filter_excludes
        if passed:
            if not dump.find(self._tensor_filters[passed], first_n=1, exclude_node_names=excluded):
                self._remove_dump_root()  # runs go on
                return
            self._active_filter = self._active_filter_excludes = None
        self._prep_debug_cli_for_run_end(dump, request.tf_error, passed, excluded)
        self._run_start_response = self._launch_cli()
        self._remove_dump_root()

    def _remove_dump_root(self):
        shutil.rmtree(self._dump_root, ignore_errors=True)

    def _prep_debug_cli_for_run_end(self, debug_dump, tf_error, passed_filter, passed_filter_exclude_node_names):
        self._run_cli = analyzer.create_analyzer_ui(
            debug_dump, self._tensor_filters, ui_type=self._ui_type, on_ui_exit=self._remove_dump_root,
            config=self._config,
        )  # fmt: skip
        self._run_cli.register_tab_comp_context(_NODE_COMMANDS, [str(name) for name in debug_dump.nodes()])
        command, color = "lt", "black_on_white"
        if tf_error is not None:
            self._run_cli.set_help_intro(screens.get_error_intro(tf_error))
            command, color = "help", "red_on_white"
        elif passed_filter is not None:
            command, color = f"lt -f {passed_filter}", "red_on_white"
            if passed_filter_exclude_node_names:
                command += f" --filter_exclude_node_names {passed_filter_exclude_node_names}"
        self._screen = command, f"run-end: {self._run_description}", color

    def _prep_profile_cli_for_run_end(self, py_graph, run_metadata):
        self._run_cli = profile_views.create_profiler_ui(
            py_graph, run_metadata, ui_type=self._ui_type, config=self._run_cli.config
        )
        self._screen = "lp", f"run-end (profiler mode): {self._run_description}", None

    # ---- The command line ---------------------------------------------------------------------------------------

    def _launch_cli(self):
        """Shows the command line. Returns what the command says that ends it."""
        self._register_this_run_info(self._run_cli)
        command, title, color = self._screen
        return self._run_cli.run_ui(init_command=command, title=title, title_color=color)

    def _register_this_run_info(self, cli):
        cli.register_command_handler("run", self._run_handler, run_arguments.RUN.format_help(), ["r"])
        cli.register_command_handler("run_info", self._run_info_handler, run_arguments.RUN_INFO.format_help(), ["ri"])
        cli.register_command_handler(
            "print_feed", self._print_feed_handler, run_arguments.PRINT_FEED.format_help(), ["pf"]
        )
        cli.register_tab_comp_context(["run", "r"], list(self._tensor_filters))
        if hasattr(self._feed_dict, "keys"):
            names = [get_graph_element_name(key) for key in self._feed_dict]
            cli.register_tab_comp_context(["print_feed", "pf"], names)

    def _run_handler(self, args, screen_info=None):
        """Ends the command line with an OnRunStartResponse."""
        parsed = run_arguments.RUN.parse_args(args)
        if parsed.filter_exclude_node_names and not parsed.till_filter_pass:
            raise ValueError(
                "The --filter_exclude_node_names (or -feon) flag is valid only if the --till_filter_pass (or -f) "
                "flag is used."
            )
        if parsed.profile:
            raise CommandLineExit(exit_token=OnRunStartResponse(OnRunStartAction.PROFILE_RUN, []))
        self._skips_debugging = parsed.no_debug
        self._runs_left = parsed.times
        filters = {
            "node_name_regex_whitelist": parsed.node_name_filter or None,
            "op_type_regex_whitelist": parsed.op_type_filter or None,
            "tensor_dtype_regex_whitelist": parsed.tensor_dtype_filter or None,
        }
        response = self._watched(**filters)
        if parsed.times > 1 or parsed.no_debug:
            response = OnRunStartResponse(OnRunStartAction.NON_DEBUG_RUN, [], **filters)
        if parsed.till_filter_pass:
            if parsed.till_filter_pass not in self._tensor_filters:
                return RichTextLines([f'ERROR: tensor filter "{parsed.till_filter_pass}" does not exist.'])
            self._active_filter = parsed.till_filter_pass
            self._active_filter_excludes = parsed.filter_exclude_node_names
            self._active_filter_response = response
        raise CommandLineExit(exit_token=response)

    def _run_info_handler(self, args, screen_info=None):
        output = self._first_lines()
        output.extend(self._run_info)
        menu = output.annotations.get(MAIN_MENU_KEY)
        if not self._is_run_start and menu is not None and "list_tensors" not in menu.captions():
            menu.insert(0, MenuItem("list_tensors", "list_tensors"))
        return output

    def _print_feed_handler(self, args, screen_info=None):
        if not self._feed_dict:
            return screens.error("The feed_dict of the current run is None or empty.")
        parsed = run_arguments.PRINT_FEED.parse_args(args)
        name, slicing = command_parser.parse_tensor_name_with_slicing(parsed.tensor_name)
        for key, value in self._feed_dict.items():
            if get_graph_element_name(key) == name:
                return screens.format_tensor(
                    value, f"{name} (feed)", screens.numpy_printoptions_from_screen_info(screen_info),
                    print_all=parsed.print_all, tensor_slicing=slicing,
                    highlight_options=screens.parse_ranges_highlight(parsed.ranges),
                    include_numeric_summary=parsed.numeric_summary,
                )  # fmt: skip
        return screens.error(f"The feed_dict of the current run does not contain the key {name}")


def _checked(dump_root):
    if os.path.isfile(dump_root):
        raise ValueError(f"dump_root path points to a file: {dump_root}")
    if os.path.isdir(dump_root) and os.listdir(dump_root):
        raise ValueError(f"dump_root path points to a non-empty directory: {dump_root}")
    return dump_root
