package main

import (
	"bytes"
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/santhosh-tekuri/jsonschema/v6"
	"go.yaml.in/yaml/v3"

	"redlocksim/scenarios/schema"
)

// commandLines are the lines of a workflow that call the command: those of the keys run and script.
func commandLines(t *testing.T, n *yaml.Node) []string {
	t.Helper()
	var lines []string
	switch n.Kind {
	case yaml.DocumentNode, yaml.SequenceNode:
		for _, c := range n.Content {
			lines = append(lines, commandLines(t, c)...)
		}
	case yaml.MappingNode:
		for i := 0; i+1 < len(n.Content); i += 2 {
			key, value := n.Content[i].Value, n.Content[i+1]
			if key != "run" && key != "script" {
				lines = append(lines, commandLines(t, value)...)
				continue
			}
			scripts := []*yaml.Node{value}
			if value.Kind == yaml.SequenceNode {
				scripts = value.Content
			}
			for _, s := range scripts {
				for line := range strings.Lines(s.Value) {
					if line = strings.TrimSpace(line); strings.HasPrefix(line, "redlocksim ") {
						lines = append(lines, line)
					}
				}
			}
		}
	}
	return lines
}

// variables are what a workflow puts in, with what they can be.
var variables = strings.NewReplacer("${{ matrix.shard }}", "2", "${{ github.run_number }}", "17",
	"$CI_NODE_INDEX", "2", "$CI_NODE_TOTAL", "4", "$GITHUB_STEP_SUMMARY", "summary.md", `"`, "")

var placeholder = regexp.MustCompile(`\$\{?\w`)

// refusedBecause says why the command would refuse these arguments before it runs anything, or which file that they name is
// missing.
func refusedBecause(args []string) error {
	root := newRoot()
	cmd, rest, err := root.Find(args)
	if err != nil {
		return err
	}
	if cmd == root {
		return errors.New("no such command")
	}
	if err := cmd.ParseFlags(rest); err != nil {
		return err
	}
	if err := cmd.ValidateArgs(cmd.Flags().Args()); err != nil {
		return err
	}
	if err := cmd.ValidateFlagGroups(); err != nil {
		return err
	}
	if shard := cmd.Flags().Lookup("shard"); shard != nil {
		if _, _, err := parseShard(shard.Value.String()); err != nil {
			return err
		}
	}
	for _, arg := range cmd.Flags().Args() {
		if _, err := os.Stat(arg); err != nil {
			return err
		}
	}
	return nil
}

// globbed are the arguments of a line, as a shell would hand them over.
func globbed(line string) (args []string) {
	for _, word := range strings.Fields(line)[1:] {
		if files, _ := filepath.Glob(word); files != nil {
			args = append(args, files...)
		} else {
			args = append(args, word)
		}
	}
	return args
}

// The workflows that are there to be copied can be read, and what they call the command with is right, to the files. The
// lines are not run: they take minutes.
func TestWorkflowsCallTheCommandRight(t *testing.T) {
	paths, err := filepath.Glob("../../examples/ci/*.yaml")
	if err != nil || len(paths) != 2 {
		t.Fatal(paths, err)
	}
	texts := map[string][]byte{}
	for _, path := range paths {
		if texts[path], err = os.ReadFile(path); err != nil {
			t.Fatal(err)
		}
	}
	// A repository of somebody's, with a scenario.
	t.Chdir(t.TempDir())
	if err := os.Mkdir("scenarios", 0o777); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile("scenarios/ours.yaml", startingFile, 0o666); err != nil {
		t.Fatal(err)
	}
	for path, text := range texts {
		var document yaml.Node
		if err := yaml.Unmarshal(text, &document); err != nil {
			t.Fatalf("%s: %v", path, err)
		}
		lines := commandLines(t, &document)
		if len(lines) < 2 {
			t.Errorf("%s: %d commands", path, len(lines))
		}
		for _, line := range lines {
			line = variables.Replace(line)
			if placeholder.MatchString(line) {
				t.Errorf("%s: %s: not every variable is known", path, line)
			}
			if err := refusedBecause(globbed(line)); err != nil {
				t.Errorf("%s: %s: %v", path, line, err)
			}
		}
	}
}

// Results are what the published schema says of them, also what was not run and what went wrong.
func TestResultsFitTheirSchema(t *testing.T) {
	doc, err := jsonschema.UnmarshalJSON(bytes.NewReader(schema.Suite))
	if err != nil {
		t.Fatal(err)
	}
	c := jsonschema.NewCompiler()
	if err := c.AddResource("suite.schema.json", doc); err != nil {
		t.Fatal(err)
	}
	s, err := c.Compile("suite.schema.json")
	if err != nil {
		t.Fatal(err)
	}
	wrong := filepath.Join(t.TempDir(), "wrong.yaml")
	if err := os.WriteFile(wrong, bytes.Replace(startingFile, []byte("restart-after: 2100ms}"), []byte("restart-after: 1s}"), 1), 0o666); err != nil {
		t.Fatal(err)
	}
	for _, args := range [][]string{
		{"--filter", "^(17|24|12-holder-dies/crash|14-partition-at-every-attempt/healed)"},
		{"--tier", "live", "--filter", "boundaries/pause-holds"},
		{wrong},
	} {
		var stdout, stderr bytes.Buffer
		run(append([]string{"suite", "--json", "-"}, args...), &stdout, &stderr)
		var results struct {
			Scenarios, NotRun []any
		}
		if err := json.Unmarshal(bytes.ReplaceAll(stdout.Bytes(), []byte("not_run"), []byte("notrun")), &results); err != nil || len(results.Scenarios)+len(results.NotRun) == 0 {
			t.Fatalf("%v: %v\n%s%s", args, err, &stdout, &stderr)
		}
		got, err := jsonschema.UnmarshalJSON(&stdout)
		if err != nil {
			t.Fatal(err)
		}
		if err := s.Validate(got); err != nil {
			t.Errorf("%v: %v", args, err)
		}
		// What a key less or one more would be is not the same form.
		form := got.(map[string]any)
		form["more"] = true
		if s.Validate(got) == nil {
			t.Errorf("%v: a key more fits, too", args)
		}
		delete(form, "more")
		delete(form, "ok")
		if s.Validate(got) == nil {
			t.Errorf("%v: a key less fits, too", args)
		}
	}
}
