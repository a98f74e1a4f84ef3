package sweep

import (
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"go.yaml.in/yaml/v3"

	"redlocksim/internal/strictyaml"
	"redlocksim/redlock"
	"redlocksim/scenarios"
	"redlocksim/search/attacks"
)

// Settings are those of one point. The scenario has clients and a timeline only if its base is Whole.
type Settings = attacks.Settings

// Keys that an axis can have beside those of a settings file.
const (
	// nodeCount stands for nodes.names: A, B, C and so on.
	nodeCount = "nodes.count"
	// ActualPause is how long the holder is paused; the budget's pause unless given.
	ActualPause = "adversary.pause"
	// Work is how long the holder works before it writes; 0 unless given.
	Work = "adversary.work"
	// Renews is whether the holder renews its lock while it works; false unless given.
	Renews = "adversary.renews"
)

// Base is what the points of a sweep have in common.
type Base struct {
	root *yaml.Node
	// whole: a scenario with its own timeline.
	whole bool
}

// SettingsOf is a base with a scenario's settings, for the schedules of this package.
func SettingsOf(s *scenarios.Scenario) (Base, error) {
	b, err := Whole(s)
	if err != nil {
		return b, err
	}
	b.whole = false
	var kept []*yaml.Node
	for i := 0; i+1 < len(b.root.Content); i += 2 {
		if slices.Contains([]string{"resources", "lock", "nodes", "network", "storage", "budget"}, b.root.Content[i].Value) {
			kept = append(kept, b.root.Content[i], b.root.Content[i+1])
		}
	}
	b.root.Content = kept
	return b, nil
}

// Whole is a base with all of a scenario, which is run as it is. Axes can be in its timeline, too, as in
// timeline[2].fault.clock-step.by.
func Whole(s *scenarios.Scenario) (Base, error) {
	data, err := s.Encode()
	if err != nil {
		return Base{}, err
	}
	var document yaml.Node
	if err := yaml.Unmarshal(data, &document); err != nil {
		return Base{}, fmt.Errorf("sweep: %w", err)
	}
	return Base{root: document.Content[0], whole: true}, nil
}

// Setting is a value for a path.
type Setting struct{ Path, Word string }

func words(at []Setting) []string {
	all := []string{}
	for _, a := range at {
		all = append(all, a.Word)
	}
	return all
}

// ParseSetting reads "lock.ttl=5s".
func ParseSetting(text string) (Setting, error) {
	path, word, ok := strings.Cut(text, "=")
	if path, word = strings.TrimSpace(path), strings.TrimSpace(word); !ok || !axisPath.MatchString(path) || word == "" {
		return Setting{}, fmt.Errorf(`%q is not a setting, as "lock.ttl=5s"`, text)
	}
	return Setting{path, word}, nil
}

// With is the base with some settings changed.
func (b Base) With(settings ...Setting) (Base, error) {
	changed := Base{root: clone(b.root), whole: b.whole}
	for _, s := range settings {
		if err := changed.set(s); err != nil {
			return Base{}, fmt.Errorf("%s=%s: %w", s.Path, s.Word, err)
		}
	}
	return changed, nil
}

// adversarys is the key of what only the adversary knows.
const adversarys = "adversary"

func (b Base) set(s Setting) error {
	path := s.Path
	value, err := b.value(s)
	if err != nil {
		return err
	}
	if path == nodeCount {
		path = "nodes.names"
	}
	if strings.HasPrefix(path, adversarys) && path != ActualPause && path != Work && path != Renews {
		return unknown("setting", path, ActualPause, Work, Renews)
	}
	n := b.root
	steps := strings.Split(path, ".")
	for i, step := range steps {
		key, index, isItem := strings.Cut(strings.TrimSuffix(step, "]"), "[")
		slot := entry(n, key)
		if isItem {
			at, _ := strconv.Atoi(index)
			if slot.Kind != yaml.SequenceNode || at >= len(slot.Content) {
				return fmt.Errorf("%s has %d entries, counted from 0; there is no %s", key, len(slot.Content), step)
			}
			slot = slot.Content[at]
		}
		if i == len(steps)-1 {
			*slot = *value
			return nil
		}
		if slot.Kind != yaml.MappingNode && slot.Kind != yaml.SequenceNode {
			*slot = yaml.Node{Kind: yaml.MappingNode}
		}
		n = slot
	}
	return nil
}

func (b Base) value(s Setting) (*yaml.Node, error) {
	if s.Path == nodeCount {
		n, err := strconv.ParseInt(s.Word, 10, 64)
		if err != nil || n < 1 || n > redlock.MaxNodes {
			return nil, fmt.Errorf("%q is not a number of nodes, from 1 to %d", s.Word, redlock.MaxNodes)
		}
		names := &yaml.Node{Kind: yaml.SequenceNode}
		for _, name := range NodeNames(int(n)) {
			names.Content = append(names.Content, strictyaml.Text(name))
		}
		return names, nil
	}
	value, err := strictyaml.ValueOf(s.Word)
	if err != nil {
		return nil, errors.New("not a valid YAML value")
	}
	return value, nil
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

// entry is the value of a key, which is added if it is not there.
func entry(n *yaml.Node, key string) *yaml.Node {
	for i := 0; i+1 < len(n.Content); i += 2 {
		if n.Content[i].Value == key {
			return n.Content[i+1]
		}
	}
	value := &yaml.Node{Kind: yaml.MappingNode}
	if n.Kind == yaml.MappingNode {
		n.Content = append(n.Content, strictyaml.Text(key), value)
	}
	return value
}

func clone(n *yaml.Node) *yaml.Node {
	c := *n
	c.Content = make([]*yaml.Node, len(n.Content))
	for i, part := range n.Content {
		c.Content[i] = clone(part)
	}
	return &c
}

// A combinationError says that settings which may each be right make no sense together.
type combinationError struct{ Err error }

func (e *combinationError) Error() string { return e.Err.Error() }

// Unwrap gives what is wrong.
func (e *combinationError) Unwrap() error { return e.Err }

// Settings reads the settings that the base stands for. The error says what is wrong with them, or that the protocol
// refuses them.
func (b Base) Settings() (*Settings, error) {
	root := clone(b.root)
	var extra struct {
		Pause  *time.Duration `yaml:"pause"`
		Work   time.Duration  `yaml:"work"`
		Renews bool           `yaml:"renews"`
	}
	for i := 0; i+1 < len(root.Content); i += 2 {
		if root.Content[i].Value == adversarys {
			if err := strictyaml.DecodeNode(adversarys, root.Content[i+1], &extra); err != nil {
				return nil, short(err)
			}
			root.Content = slices.Delete(root.Content, i, i+2)
			break
		}
	}
	data, err := yaml.Marshal(root)
	if err != nil {
		return nil, fmt.Errorf("sweep: %w", err)
	}
	s := &Settings{}
	if b.whole {
		all, err := scenarios.Parse("scenario", data)
		if err != nil {
			return nil, short(err)
		}
		s.Scenario = all[0]
	} else if s.Scenario, err = scenarios.ParseSettings("settings", data); err != nil {
		return nil, short(err)
	}
	s.Pause = s.Budget.Pause
	if extra.Pause != nil {
		s.Pause = *extra.Pause
	}
	s.Work, s.Renews = extra.Work, extra.Renews
	if s.Pause < 0 || s.Work < 0 || s.Work > MaxLength || s.Pause > MaxLength || s.Lock.TTL > MaxLength || s.Budget.ClockStep > MaxLength || s.Budget.Suspend > MaxLength || s.Budget.Delay > MaxLength || s.Network.Latency.Max() > MaxLength || s.Replies().Max() > MaxLength || restartDelay(s) > MaxLength {
		return nil, fmt.Errorf("a pause, work, suspension, TTL, clock step, latency, delay and restart delay are from 0s to %v", MaxLength)
	}
	return s, nil
}

// MaxLength bounds times of which a schedule takes several.
const MaxLength = 24 * time.Hour

// short is the first error, without the line in a document that nobody wrote.
func short(err error) error {
	var all strictyaml.Errors
	if !errors.As(err, &all) || len(all) == 0 {
		return err
	}
	first := *all[0]
	first.File, first.Line = first.Path, 0
	isProtocols := first.Path == "lock" && first.Word == "" // what it names a word of is a key
	if first.File == "" {
		first.File = "settings"
	}
	first.Path = ""
	if isProtocols {
		return &combinationError{&first}
	}
	return &first
}

func unknown(kind, name string, valid ...string) error {
	text := fmt.Sprintf("there is no %s %q", kind, name)
	if near, ok := strictyaml.Nearest(name, valid); ok {
		return fmt.Errorf("%s; did you mean %q?", text, near)
	}
	return fmt.Errorf("%s; valid: %s", text, strings.Join(valid, ", "))
}
