// The editor of the playground: CodeMirror, with mistakes and completions from the linter and the schema of redlocksim.
import {EditorView, basicSetup} from "codemirror";
import {keymap} from "@codemirror/view";
import {indentWithTab} from "@codemirror/commands";
import {yaml} from "@codemirror/lang-yaml";
import {autocompletion} from "@codemirror/autocomplete";
import {lintGutter, setDiagnostics} from "@codemirror/lint";

// open makes an editor in parent. changed is called with the text that somebody typed; complete(text, offset) promises
// {from, options}.
export function open(parent, {changed, complete}) {
  let silent = false;
  const view = new EditorView({
    parent,
    extensions: [
      basicSetup,
      // Tab indents; Escape, then Tab leaves the editor, which the page says.
      keymap.of([indentWithTab]),
      yaml(),
      EditorView.lineWrapping,
      EditorView.contentAttributes.of({"aria-label": "scenario file"}),
      lintGutter(),
      autocompletion({override: [async context => {
        if (!context.explicit && !context.matchBefore(/[\w-]+/)) return null;
        const found = await complete(context.state.doc.toString(), context.pos);
        return found && found.options.length ? {...found, validFor: /^[\w-]*$/} : null;
      }]}),
      EditorView.updateListener.of(update => {
        if (update.docChanged && !silent) changed(update.state.doc.toString());
      }),
    ],
  });
  view.scrollDOM.tabIndex = 0; // so that keys scroll a long file
  return {
    text: () => view.state.doc.toString(),
    set(text) {
      const old = view.state.doc.toString();
      if (text === old) return;
      // Only what differs is replaced, so that the cursor stays where it is.
      let from = 0, back = 0;
      while (from < Math.min(text.length, old.length) && text[from] === old[from]) from++;
      while (back < Math.min(text.length, old.length) - from && text[text.length - 1 - back] === old[old.length - 1 - back]) back++;
      silent = true;
      view.dispatch({changes: {from, to: old.length - back, insert: text.slice(from, text.length - back)}});
      silent = false;
    },
    mistakes(all) {
      const doc = view.state.doc;
      view.dispatch(setDiagnostics(view.state, all.map(m => {
        const line = doc.line(Math.min(Math.max(m.line, 1), doc.lines));
        const from = Math.min(line.from + Math.max(m.column - 1, 0), line.to);
        const rest = doc.sliceString(from, line.to).match(/^[^\s,{}\[\]]+/);
        return {from, to: from + (rest ? rest[0].length : 0), severity: m.warning ? "warning" : "error", message: m.text};
      })));
    },
  };
}
