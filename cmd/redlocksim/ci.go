package main

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
	"go.yaml.in/yaml/v3"

	"redlocksim/internal/strictyaml"
	"redlocksim/reports"
	"redlocksim/scenarios"
)

// ciFiles are the reports that a command writes for continuous integration: paths, "-" for standard output, empty for none.
type ciFiles struct {
	junit, markdown string
}

func (f *ciFiles) addFlags(flags *pflag.FlagSet) {
	flags.StringVar(&f.junit, "junit", "", "write the results as JUnit XML to this file; - for standard output")
	flags.StringVar(&f.markdown, "markdown", "", "write a summary with stories as Markdown to this file; - for standard output")
}

// target is a file that a flag names.
type target struct{ flag, path string }

// check looks, before anything is run, whether the files can be written; others are files of the same command.
func (f *ciFiles) check(others ...target) error {
	return checkFiles(append(others, target{"--junit", f.junit}, target{"--markdown", f.markdown})...)
}

// takeStdout says that one of the files is standard output.
func (f *ciFiles) takeStdout() bool { return f.junit == "-" || f.markdown == "-" }

// write writes the files; name is what the cases are the results of.
func (f *ciFiles) write(cmd *cobra.Command, name string, cases []reports.Case, took time.Duration) error {
	for _, r := range []struct {
		target
		write func(io.Writer) error
	}{
		{target{"--junit", f.junit}, func(w io.Writer) error { return reports.JUnit(w, name, cases, took) }},
		{target{"--markdown", f.markdown}, func(w io.Writer) error { return reports.Markdown(w, name, cases, took) }},
	} {
		if r.path == "" {
			continue
		}
		var b bytes.Buffer
		if err := r.write(&b); err != nil {
			return &failure{exitInternal, fmt.Errorf("internal error: %s: %w", r.flag, err)}
		}
		if err := put(cmd.OutOrStdout(), r.path, b.Bytes()); err != nil {
			return cannotWrite(r.flag, err)
		}
	}
	return nil
}

// annotate tells GitHub Actions, where it runs the command, what was not as expected.
func annotate(w io.Writer, cases []reports.Case) error {
	if os.Getenv("GITHUB_ACTIONS") != "true" {
		return nil
	}
	if err := reports.Annotations(w, cases); err != nil {
		return &failure{exitInternal, err}
	}
	return nil
}

// checkFiles looks whether files can be written, and whether two are the same. Those with an empty path are passed over.
func checkFiles(files ...target) error {
	taken := map[string]string{}
	for _, f := range files {
		if f.path == "" {
			continue
		}
		path := filepath.Clean(f.path)
		if other := taken[path]; other != "" {
			return &failure{exitUsage, fmt.Errorf("%s: %s is what %s writes to", f.flag, f.path, other)}
		}
		taken[path] = f.flag
		if f.path == "-" {
			continue
		}
		if input := inputAt(path); input != "" {
			return &failure{exitUsage, fmt.Errorf("%s: %s is the input %s, which is not replaced", f.flag, f.path, input)}
		}
		if err := checkWritable(path); err != nil {
			return cannotWrite(f.flag, err)
		}
	}
	return nil
}

// inputAt is the input of the running command that is the same file as path, by whatever name; empty if none is.
func inputAt(path string) string {
	out, err := os.Stat(path)
	if err != nil || !out.Mode().IsRegular() {
		return ""
	}
	for _, in := range inputs {
		if info, err := os.Stat(in); err == nil && os.SameFile(info, out) {
			return in
		}
	}
	return ""
}

// inputs are the files that the running command reads.
var inputs []string

// noteInputs remembers what a command is given to read: its arguments, and the flags that name an input.
func noteInputs(cmd *cobra.Command, args []string) {
	inputs = nil
	if cmd.Name() != "new" { // whose argument is what it writes
		inputs = append(inputs, args...)
	}
	for _, name := range []string{"settings", "scenario"} {
		if f := cmd.Flags().Lookup(name); f != nil && f.Value.Type() == "string" && f.Value.String() != "" {
			inputs = append(inputs, f.Value.String())
		}
	}
}

// checkWritable looks whether put can write a file, and leaves nothing behind.
func checkWritable(path string) error {
	switch info, err := os.Stat(path); {
	case err == nil && info.IsDir():
		return &failure{exitUsage, fmt.Errorf("%s is a directory; name a file", path)}
	case err == nil:
		f, err := os.OpenFile(path, os.O_WRONLY, 0)
		if err != nil {
			return err
		}
		if err := f.Close(); err != nil || !info.Mode().IsRegular() {
			return err
		}
		if path, err = filepath.EvalSymlinks(path); err != nil {
			return err
		}
	case !errors.Is(err, os.ErrNotExist):
		return err
	}
	// What is made now is only to see whether it can be.
	f, err := create(path, 0o666)
	if err != nil {
		return naming(path, err)
	}
	return errors.Join(f.Close(), os.Remove(f.Name()))
}

// naming has the error of a file that was to take the place of another name the other, which is what the user knows.
func naming(path string, err error) error {
	if at := (*os.PathError)(nil); errors.As(err, &at) {
		return &os.PathError{Op: at.Op, Path: path, Err: at.Err}
	}
	return err
}

// lineOf is the line of a file on which to show that a scenario of it is not as expected: where its case begins, or where
// it says what is expected. 0 if that cannot be found any more.
func lineOf(path string, s *scenarios.Scenario) int {
	text, err := strictyaml.ReadFile(path)
	var document yaml.Node
	if err != nil || yaml.Unmarshal(text, &document) != nil || len(document.Content) == 0 {
		return 0
	}
	root := document.Content[0]
	if of := caseOf(s); of != "" {
		if _, cases := entry(root, "cases"); cases != nil {
			root = cases
		}
		if key, _ := entry(root, of); key != nil {
			return key.Line
		}
	}
	if key, _ := entry(root, "expect"); key != nil {
		return key.Line
	}
	return 0
}

// entry is a key of a mapping and its value; nil if it is not there.
func entry(n *yaml.Node, name string) (key, value *yaml.Node) {
	if n.Kind != yaml.MappingNode {
		return nil, nil
	}
	for i := 0; i+1 < len(n.Content); i += 2 {
		if n.Content[i].Value == name {
			return n.Content[i], n.Content[i+1]
		}
	}
	return nil, nil
}
