package engine

import (
	"slices"
	"strings"

	"go.yaml.in/yaml/v3"

	"redlocksim/scenarios/variant"
)

// set is the text of a file with one setting changed. Where the file has the setting, only its value changes; where it has
// not, the file is written anew, and loses its comments.
func set(text, path, word string) (string, error) {
	var document yaml.Node
	if err := yaml.Unmarshal([]byte(text), &document); err == nil && len(document.Content) > 0 {
		if n := variant.At(document.Content[0], path); n != nil && n.Kind == yaml.ScalarNode && n.Style == 0 && n.Anchor == "" {
			lines := strings.SplitAfter(text, "\n")
			line := []rune(lines[n.Line-1])
			old := []rune(n.Value)
			if at := n.Column - 1; at+len(old) <= len(line) && string(line[at:at+len(old)]) == n.Value {
				lines[n.Line-1] = string(slices.Concat(line[:at], []rune(word), line[at+len(old):]))
				return strings.Join(lines, ""), nil
			}
		}
	}
	s, _, _, err := read(&Request{Text: text})
	if err != nil {
		return "", err
	}
	f, err := variant.Of(s)
	if err == nil {
		f, err = f.With(variant.Setting{Path: path, Word: word})
	}
	if err != nil {
		return "", err
	}
	if s, err = f.Scenario(); err != nil {
		return "", err
	}
	data, err := s.Encode()
	return string(data), err
}
