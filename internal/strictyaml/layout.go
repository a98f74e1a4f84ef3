package strictyaml

import (
	"bytes"
	"fmt"
	"strings"
	"unicode"
	"unicode/utf8"

	"go.yaml.in/yaml/v3"
)

// The widest line that a value is put on with its key, and the widest of a text.
const (
	widestLine = 100
	widestText = 120
)

// layOut formats a mapping as people do: a short value on the line of its key, the parts of a longer one on a line each, and
// long text folded.
func layOut(n *yaml.Node) ([]byte, error) {
	var all bytes.Buffer
	for key, value := range pairs(n) {
		if text, ok := folded(value); ok {
			fmt.Fprintf(&all, "%s: %s", key.Value, text)
			continue
		}
		inline(value)
		if value.Kind == yaml.SequenceNode && len(value.Content) > 0 && value.Content[0].Kind != yaml.ScalarNode {
			value.Style = 0
		}
		line, err := emit(key, value)
		if err == nil && value.Style != 0 && len(line) > widestLine {
			value.Style = 0
			line, err = emit(key, value)
		}
		if err != nil {
			return nil, err
		}
		all.Write(line)
	}
	return all.Bytes(), nil
}

// inline gives all of a value the style of one line.
func inline(n *yaml.Node) {
	if n.Kind != yaml.ScalarNode {
		n.Style = yaml.FlowStyle
	}
	for _, part := range n.Content {
		inline(part)
	}
}

// emit writes one key and its value.
func emit(key, value *yaml.Node) ([]byte, error) {
	var text bytes.Buffer
	w := yaml.NewEncoder(&text)
	w.SetIndent(2)
	if err := w.Encode(&yaml.Node{Kind: yaml.MappingNode, Content: []*yaml.Node{key, value}}); err != nil {
		return nil, fmt.Errorf("strictyaml: %w", err)
	}
	if err := w.Close(); err != nil {
		return nil, fmt.Errorf("strictyaml: %w", err)
	}
	return text.Bytes(), nil
}

// folded is a long text as a folded block, which the emitter would put on one line; false for a text that is short, or whose
// spaces folding would change.
func folded(n *yaml.Node) (string, bool) {
	if n.Kind != yaml.ScalarNode || n.Tag != strTag || utf8.RuneCountInString(n.Value) <= widestText || !utf8.ValidString(n.Value) {
		return "", false
	}
	text, ended := strings.CutSuffix(n.Value, "\n")
	words := strings.Split(text, " ")
	for _, word := range words {
		if word == "" || strings.ContainsFunc(word, func(r rune) bool { return !unicode.IsGraphic(r) }) {
			return "", false
		}
	}
	var block strings.Builder
	block.WriteString(">")
	if !ended {
		block.WriteString("-")
	}
	column := widestText
	for _, word := range words {
		length := utf8.RuneCountInString(word)
		if column += 1 + length; column > widestText {
			block.WriteString("\n  " + word)
			column = 2 + length
			continue
		}
		block.WriteString(" " + word)
	}
	return block.String() + "\n", true
}
