package audit

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"go.yaml.in/yaml/v3"

	"redlocksim/internal/strictyaml"
	"redlocksim/scenarios/variant"
	"redlocksim/search/attacks"
)

// Fix is a change that was seen to mend an assumption.
type Fix struct {
	// Text says it in a sentence.
	Text string `json:"text"`
	// Drop is the keys that a file of answers then says nothing of, and Set what it says, a line each, in the place of what it
	// says of the same keys.
	Drop []string `json:"drop,omitempty"`
	Set  []string `json:"set"`
}

// With is the answers of a file that is changed like that. The error is that of the file.
func (a *Answers) With(f Fix) (*Answers, error) {
	root := a.root
	for _, key := range f.Drop {
		root, _ = strictyaml.Without(root, key)
	}
	for _, line := range f.Set {
		change, err := strictyaml.ValueOf(line)
		if err != nil {
			return nil, err
		}
		root = strictyaml.Merge(root, change)
	}
	text, err := yaml.Marshal(root)
	if err != nil {
		return nil, err
	}
	return Parse(a.file, text)
}

// line is a setting as a line of the file, under the key under which the file has it already.
func (a *Answers) line(s variant.Setting) string {
	switch {
	case s.Path == attacks.Work:
		return "work: " + s.Word
	case s.Path == watchdogPath && a.says("renews"):
		return "renews: " + s.Word
	}
	all := Questions()
	i := slices.IndexFunc(all, func(q Question) bool { return q.path == s.Path })
	nested := func() bool { // a mapping of a settings file, or what is no answer
		n := strictyaml.At(a.root, s.Path)
		return n != nil && !(s.Path == all[i].Key && n.Kind != yaml.MappingNode)
	}
	switch {
	case i < 0 || nested():
	case all[i].Key == "fencing":
		return "fencing: " + strconv.FormatBool(s.Word == "fenced")
	default:
		return all[i].Key + ": " + s.Word
	}
	if s.Path == "network.latency" { // there and back
		return fmt.Sprintf("network: {latency: %s, replies: 0s}", s.Word)
	}
	keys := strings.Split(s.Path, ".")
	return strings.Join(keys, ": {") + ": " + s.Word + strings.Repeat("}", len(keys)-1)
}

// fix is the change of a file that a fix takes, with the value that was found and the settings that it gives.
func (a *Answers) fix(f *fix, value string, changes []variant.Setting) Fix {
	x := Fix{Text: f.Text + f.More}
	if f.Key != "" {
		x.Text += " (" + f.Key + ")"
	}
	x.Text = strings.ReplaceAll(x.Text, "%s", value)
	lib := a.lib
	if f.library != "" {
		lib, _ = libraryOf(f.library)
	}
	for _, key := range []string{f.Key, renewing} {
		if called := lib.calls(key); called != "" {
			x.Text = strings.Replace(x.Text, "("+key+")", "("+key+", "+called+")", 1)
		}
	}
	if f.library != "" {
		if a.says("lock") { // which is of another library
			x.Drop = []string{"lock"}
		}
		x.Set = []string{"library: " + f.library}
		if strictyaml.At(a.root, "ttl") == nil { // that of the other library may be another
			x.Set = append(x.Set, "ttl: "+a.Settings.Lock.TTL.String())
		}
	}
	if f.says != "" {
		x.Set = append(x.Set, f.says)
	}
	for _, c := range changes {
		x.Set = append(x.Set, a.line(c))
	}
	return x
}

// renewing is what a file of answers says of a lock that is renewed.
const renewing = "renews: true"

// calls is what somebody who uses the library calls what a key of a fix changes; empty if it has no name for it.
func (l *library) calls(key string) string {
	path, isOfLock := strings.CutPrefix(key, "lock.")
	switch path, _, _ = strings.Cut(path, ":"); {
	case key == renewing && l.sets != nil:
		return l.extends
	case !isOfLock:
		return ""
	}
	called, _ := l.has(path)
	return called
}
