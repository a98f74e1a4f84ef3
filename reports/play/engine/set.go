package engine

import (
	"slices"
	"strings"

	"go.yaml.in/yaml/v3"

	"redlocksim/search/sweep"
)

// set is the text of a file with one setting changed. Where the file has the setting, only its value changes; where it has
// not, the file is written anew, and loses its comments.
func set(text, path, word string) (string, error) {
	var document yaml.Node
	if err := yaml.Unmarshal([]byte(text), &document); err == nil && len(document.Content) > 0 {
		if n := find(document.Content[0], path); n != nil && n.Kind == yaml.ScalarNode && n.Style == 0 && n.Anchor == "" {
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
	base, err := sweep.Whole(s)
	if err != nil {
		return "", err
	}
	if base, err = base.With(sweep.Setting{Path: path, Word: word}); err != nil {
		return "", err
	}
	changed, err := base.Settings()
	if err != nil {
		return "", err
	}
	data, err := changed.Scenario.Encode()
	return string(data), err
}

// find is the value at a path, or nil.
func find(root *yaml.Node, path string) (found *yaml.Node) {
	each(root, "", func(at string, n *yaml.Node) {
		if strings.TrimPrefix(at, ".") == path {
			found = n
		}
	})
	return found
}
