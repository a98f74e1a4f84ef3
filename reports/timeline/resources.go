package timeline

import (
	"slices"

	"redlocksim/history"
)

// addResources lists what was used, if it is more than one.
func (b *builder) addResources() {
	var used []string
	for _, name := range b.result.Scenario.Resources {
		if slices.ContainsFunc(b.result.History, func(e history.Event) bool { return e.Kind == history.Call && e.Resource == name }) {
			used = append(used, name)
		}
	}
	if len(used) > 1 {
		b.t.Resources = used
	}
}

// named is a resource where the run has more than one.
func (b *builder) named(resource string) string {
	if b.t.Resources == nil {
		return ""
	}
	return resource
}

// behind is a word and a resource, where it is named.
func (b *builder) behind(word, resource string) string {
	if name := b.named(resource); name != "" {
		return word + name
	}
	return ""
}

// used are the resources that a lane has something on.
func (b *builder) used(l *Lane) []string {
	var used []string
	for _, name := range b.t.Resources {
		if slices.ContainsFunc(l.Spans, func(s Span) bool { return s.Resource == name }) {
			used = append(used, name)
		}
	}
	return used
}

// longestResource is how many characters of a resource's name are written before its row.
const longestResource = 14

// shortened is a resource's name as it is written before its row.
func shortened(name string) string {
	if all := []rune(name); len(all) > longestResource {
		return string(all[:longestResource-1]) + "…"
	}
	return name
}
