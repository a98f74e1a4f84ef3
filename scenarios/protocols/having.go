package protocols

import (
	"fmt"
	"reflect"
	"slices"
	"strings"

	"go.yaml.in/yaml/v3"

	"redlocksim/internal/strictyaml"
)

// having says which protocols have a setting, by its key in a scenario file. Every protocol has those that are not in it.
var having = havingByKey()

// havingByKey reads the tag "of" of the settings: the protocols that have one.
func havingByKey() map[string][]string {
	by := map[string][]string{}
	for _, f := range reflect.VisibleFields(reflect.TypeFor[Settings]()) {
		if names, only := f.Tag.Lookup("of"); only {
			by[f.Tag.Get("yaml")] = strings.Fields(names)
		}
	}
	return by
}

// Has says whether a protocol has the setting of a key.
func (n Name) Has(key string) bool {
	names, only := having[key]
	return !only || slices.Contains(names, string(n))
}

// refuse reports the keys of settings that their protocol does not have: to pass over them would test another lock than the one
// that was asked for.
func (s *Settings) refuse(d *strictyaml.Decoder, n *yaml.Node) {
	if _, known := Find(string(s.Protocol)); !known {
		return
	}
	for i := 0; i+1 < len(n.Content); i += 2 {
		if key := n.Content[i]; !s.Protocol.Has(key.Value) {
			d.Errorf(key, key.Value, nil, "protocol %s has no such setting (%s)", s.Protocol, haveIt(having[key.Value]))
		}
	}
}

func haveIt(names []string) string {
	if len(names) == 1 {
		return "only " + names[0] + " has it"
	}
	last := len(names) - 1
	return fmt.Sprintf("only %s and %s have it", strings.Join(names[:last], ", "), names[last])
}

// without takes the settings out of a mapping that a protocol does not have.
func (n Name) without(m *yaml.Node) *yaml.Node {
	kept := m.Content[:0]
	for i := 0; i+1 < len(m.Content); i += 2 {
		if n.Has(m.Content[i].Value) {
			kept = append(kept, m.Content[i], m.Content[i+1])
		}
	}
	m.Content = kept
	return m
}
