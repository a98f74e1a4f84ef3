// Package variant changes what a scenario has at a path of its file, such as lock.ttl or
// timeline[2].fault.kill.restart-after, and says what is different then. Whatever tries other settings does so by it.
package variant

import (
	"bytes"
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"go.yaml.in/yaml/v3"

	"redlocksim/internal/strictyaml"
	"redlocksim/redlock"
	"redlocksim/scenarios"
)

// File is a scenario as its file has it, or only its settings. It never changes: With gives another.
type File struct {
	// Text is YAML.
	Text string
	// Whole says that it has clients and a timeline; without, it is a settings file.
	Whole bool
}

// Of is all of a scenario.
func Of(s *scenarios.Scenario) (File, error) {
	text, err := s.Encode()
	return File{string(text), true}, err
}

// SettingsOf is the settings of a scenario.
func SettingsOf(s *scenarios.Scenario) (File, error) {
	f, err := Of(s)
	if err != nil {
		return f, err
	}
	root, err := f.root()
	if err != nil {
		return f, err
	}
	var kept []*yaml.Node
	for i := 0; i+1 < len(root.Content); i += 2 {
		if slices.Contains([]string{"resources", "lock", "nodes", "network", "storage", "budget"}, root.Content[i].Value) {
			kept = append(kept, root.Content[i], root.Content[i+1])
		}
	}
	root.Content = kept
	return write(root, false)
}

// root is the parsed text, anew.
func (f File) root() (*yaml.Node, error) {
	if len(f.Text) > strictyaml.MaxBytes {
		return nil, fmt.Errorf("a file of %d bytes, more than %d", len(f.Text), strictyaml.MaxBytes)
	}
	return strictyaml.ValueOf(f.Text)
}

func write(root *yaml.Node, whole bool) (File, error) {
	text, err := yaml.Marshal(root)
	return File{string(text), whole}, err
}

// Scenario reads the file. The error says what is wrong with it, without a line in a text that nobody wrote; it matches
// [Refused] if the protocol refuses settings that may each be right.
func (f File) Scenario() (*scenarios.Scenario, error) {
	if !f.Whole {
		s, err := scenarios.ParseSettings("settings", []byte(f.Text))
		return s, Short(err)
	}
	all, err := scenarios.Parse("scenario", []byte(f.Text))
	if err != nil {
		return nil, Short(err)
	}
	return all[0], nil
}

// Refused says that settings which may each be right make no sense together.
type Refused struct{ Err error }

func (r *Refused) Error() string { return r.Err.Error() }

// Unwrap gives what is wrong.
func (r *Refused) Unwrap() error { return r.Err }

// Short is the first of the errors of a file, without its line.
func Short(err error) error {
	var all strictyaml.Errors
	if !errors.As(err, &all) || len(all) == 0 {
		return err
	}
	first := *all[0]
	first.File, first.Line, first.Path = first.Path, 0, ""
	if first.File == "" {
		first.File = "settings"
	}
	if first.File == "lock" && first.Word == "" { // what it names a word of is a key
		return &Refused{&first}
	}
	return &first
}

// Setting is a value for a path, or at one.
type Setting struct{ Path, Word string }

// NodeCount stands for nodes.names: A, B, C and so on.
const NodeCount = "nodes.count"

var path = regexp.MustCompile(`^[a-z0-9-]+(\[[0-9]{1,6}\])?(\.[a-z0-9-]+(\[[0-9]{1,6}\])?)*$`)

// IsPath says whether a text is a path to a setting.
func IsPath(text string) bool { return path.MatchString(text) }

// ParseSetting reads "lock.ttl=5s".
func ParseSetting(text string) (Setting, error) {
	path, word, ok := strings.Cut(text, "=")
	if path, word = strings.TrimSpace(path), strings.TrimSpace(word); !ok || !IsPath(path) || word == "" {
		return Setting{}, fmt.Errorf(`%q is not a setting, as "lock.ttl=5s"`, text)
	}
	return Setting{path, word}, nil
}

// With is the file with some settings changed.
func (f File) With(settings ...Setting) (File, error) {
	root, err := f.root()
	if err != nil {
		return f, err
	}
	for _, s := range settings {
		if err := set(root, s); err != nil {
			return f, fmt.Errorf("%s=%s: %w", s.Path, s.Word, err)
		}
	}
	return write(root, f.Whole)
}

// Cut is the file without a key, and what it has there; nil if it has nothing.
func (f File) Cut(key string) (File, *yaml.Node, error) {
	root, err := f.root()
	if err != nil {
		return f, nil, err
	}
	root, value := strictyaml.Without(root, key)
	if value == nil {
		return f, nil, nil
	}
	rest, err := write(root, f.Whole)
	return rest, value, err
}

func set(root *yaml.Node, s Setting) error {
	value, err := strictyaml.ValueOf(s.Word)
	if err != nil {
		return errors.New("not a valid YAML value")
	}
	path := s.Path
	if path == NodeCount {
		n, err := strconv.Atoi(s.Word)
		if err != nil || n < 1 || n > redlock.MaxNodes {
			return fmt.Errorf("%q is not a number of nodes, from 1 to %d", s.Word, redlock.MaxNodes)
		}
		path, value = "nodes.names", &yaml.Node{Kind: yaml.SequenceNode}
		for _, name := range NodeNames(n) {
			value.Content = append(value.Content, strictyaml.Text(name))
		}
	}
	slot, err := at(root, path, true)
	if err == nil {
		*slot = *value
	}
	return err
}

// At is what a file has at a path; nil if it has nothing there.
func At(root *yaml.Node, path string) *yaml.Node {
	n, _ := at(root, path, false)
	return n
}

// at is the node at a path, which is made if it is not there and is to be.
func at(n *yaml.Node, path string, made bool) (*yaml.Node, error) {
	for step := range strings.SplitSeq(path, ".") {
		key, index, isItem := strings.Cut(strings.TrimSuffix(step, "]"), "[")
		if n.Kind != yaml.MappingNode {
			if !made {
				return nil, nil
			}
			*n = yaml.Node{Kind: yaml.MappingNode}
		}
		value := (*yaml.Node)(nil)
		for i := 0; i+1 < len(n.Content) && value == nil; i += 2 {
			if n.Content[i].Value == key {
				value = n.Content[i+1]
			}
		}
		switch {
		case value == nil && !made:
			return nil, nil
		case value == nil:
			value = &yaml.Node{Kind: yaml.MappingNode}
			n.Content = append(n.Content, strictyaml.Text(key), value)
		}
		n = value
		if !isItem {
			continue
		}
		item, _ := strconv.Atoi(index)
		if n.Kind != yaml.SequenceNode || item >= len(n.Content) {
			return nil, fmt.Errorf("%s has %d entries, counted from 0; there is no %s", key, len(n.Content), step)
		}
		n = n.Content[item]
	}
	return n, nil
}

// NodeNames are the names of n nodes: A to Z, N27 and so on.
func NodeNames(n int) []string {
	names := make([]string, n)
	for i := range names {
		if names[i] = fmt.Sprintf("N%d", i+1); i < 26 {
			names[i] = string(rune('A' + i))
		}
	}
	return names
}

// Word is the value that the file itself has at a path; empty if it has none, or not a single one.
func (f File) Word(path string) string {
	root, err := f.root()
	if err != nil {
		return ""
	}
	isCount := path == NodeCount
	if isCount {
		path = "nodes.names"
	}
	switch n := At(root, path); {
	case n == nil:
		return ""
	case isCount:
		return strconv.Itoa(len(n.Content))
	case n.Kind == yaml.ScalarNode:
		return n.Value
	}
	return ""
}

// Values are the scalars of the file, in its order.
func (f File) Values() []Setting {
	root, err := f.root()
	if err != nil {
		return nil
	}
	return values(nil, "", root)
}

func values(all []Setting, path string, n *yaml.Node) []Setting {
	switch n.Kind {
	case yaml.MappingNode:
		for i := 0; i+1 < len(n.Content); i += 2 {
			all = values(all, strings.TrimPrefix(path+"."+n.Content[i].Value, "."), n.Content[i+1])
		}
	case yaml.SequenceNode:
		for i, item := range n.Content {
			all = values(all, fmt.Sprintf("%s[%d]", path, i), item)
		}
	default:
		all = append(all, Setting{path, n.Value})
	}
	return all
}

// Same says whether two files stand for the same scenario: 2000ms is 2s, and a default may be left out.
func Same(a, b File) bool {
	var texts [2][]byte
	for i, f := range []File{a, b} {
		s, err := f.Scenario()
		if err != nil {
			return false
		}
		if texts[i], err = s.Encode(); err != nil {
			return false
		}
	}
	return bytes.Equal(texts[0], texts[1])
}

// Change is a value that is another. From and To are as in the file; empty where the path is not there, and has its default.
type Change struct{ Path, From, To string }

func (c Change) String() string {
	switch {
	case c.To == "":
		return fmt.Sprintf("%s: left out (was %s)", c.Path, c.From)
	case c.From == "":
		return fmt.Sprintf("%s: %s", c.Path, c.To)
	}
	return fmt.Sprintf("%s: %s (was %s)", c.Path, c.To, c.From)
}

// Changes are what is different in a file from one before, in the order of the later one.
func Changes(before, after File) (all []Change) {
	was, is := before.Values(), after.Values()
	find := func(in []Setting, path string) int {
		return slices.IndexFunc(in, func(s Setting) bool { return s.Path == path })
	}
	for _, s := range is {
		switch i := find(was, s.Path); {
		case i < 0:
			all = append(all, Change{Path: s.Path, To: s.Word})
		case was[i].Word != s.Word:
			all = append(all, Change{s.Path, was[i].Word, s.Word})
		}
	}
	for _, s := range was {
		if find(is, s.Path) < 0 {
			all = append(all, Change{Path: s.Path, From: s.Word})
		}
	}
	return all
}
