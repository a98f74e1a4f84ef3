package protocols

import (
	"encoding/json"
	"fmt"
	"reflect"
	"slices"
	"strings"
	"time"

	"github.com/google/jsonschema-go/jsonschema"
	"go.yaml.in/yaml/v3"

	"redlocksim/internal/strictyaml"
)

// UnmarshalNode reads the preset and the protocol, wherever they stand, and then, over what follows from them, the other keys.
func (s *Settings) UnmarshalNode(d *strictyaml.Decoder, n *yaml.Node) {
	var which struct {
		Preset   Preset        `yaml:"preset"`
		Protocol Name          `yaml:"protocol"`
		TTL      time.Duration `yaml:"ttl"`
	}
	if !d.Fields(n, func(*yaml.Node) {}, &which) {
		d.Fields(n, func(key *yaml.Node) { // a key of another protocol may be right, if only it were known which one is meant
			if having(key.Value) == nil {
				d.Errorf(key, key.Value, allKeys(), "unknown key")
			}
		}, s)
		return
	}
	if which.Preset != "" {
		*s = which.Preset.settings(which.TTL)
	}
	*s = s.With(which.Protocol)
	own := copied(s.own)
	if d.Fields(n, func(key *yaml.Node) { s.refuse(d, key) }, s, own.Addr().Interface()) {
		s.own = own.Interface().(Own)
	}
}

// refuse reports a key that the protocol does not have: to pass over it would test another lock than the one asked for.
func (s *Settings) refuse(d *strictyaml.Decoder, key *yaml.Node) {
	if others := having(key.Value); others != nil {
		d.Errorf(key, key.Value, nil,
			"protocol %s has no such setting; leave it out, or choose a protocol that has it (%s):", s.Protocol, strings.Join(others, ", "))
		return
	}
	valid := keys(s.Protocol.Keys())
	if strictyaml.Nearest(key.Value, valid) == "" && strictyaml.Nearest(key.Value, allKeys()) != "" {
		valid = allKeys()
	}
	d.Errorf(key, key.Value, valid, "unknown key")
}

func keys(fields []strictyaml.Field) []string {
	names := make([]string, len(fields))
	for i, f := range fields {
		names[i] = f.Key
	}
	return names
}

// allKeys are the keys of all protocols.
func allKeys() (all []string) {
	for _, p := range All() {
		for _, key := range keys(p.Name.Keys()) {
			if !slices.Contains(all, key) {
				all = append(all, key)
			}
		}
	}
	return all
}

// MarshalNode is the counterpart of UnmarshalNode: what is not as in the preset or, without one, in Default.
func (s Settings) MarshalNode(e *strictyaml.Encoder) *yaml.Node {
	type plain Settings // without this method
	std := Default()
	if s.Preset != "" {
		std = s.Preset.settings(0)
		if s.TTL != std.TTL { // which must be in the file then: others follow from it
			std = s.Preset.settings(s.TTL)
			std.TTL = s.TTL + 1
		}
		std.Preset = ""
	}
	n := e.Encode(plain(s), plain(std))
	if s.own == nil || reflect.TypeOf(s.own) != reflect.TypeOf(std.With(s.Protocol).own) {
		e.Errorf("lock: protocol %s with settings of another protocol", s.Protocol)
		return n
	}
	n.Content = append(n.Content, e.Encode(s.own, std.With(s.Protocol).own).Content...)
	return n
}

// JSON is the settings of a scenario played that many times as fast, by their keys: those that are not as in Default, but for
// those that every lock has; nil if there are none.
func (s Settings) JSON(times int) json.RawMessage {
	if s.own == nil {
		return nil
	}
	text, err := strictyaml.Encode(s.own, Default().With(s.Protocol).Faster(times).own)
	if err != nil {
		panic(err) // they were read, or checked
	}
	var values map[string]any
	if err := yaml.Unmarshal(text, &values); err != nil {
		panic(err)
	}
	if len(values) == 0 {
		return nil
	}
	encoded, err := json.Marshal(values)
	if err != nil {
		panic(err)
	}
	return encoded
}

// DescribeNode is what UnmarshalNode reads: the keys of all protocols, each with those that have it.
func (Settings) DescribeNode(s *strictyaml.Schemas) *jsonschema.Schema {
	type field struct {
		owner reflect.Type
		name  string
	}
	of := map[field][]string{}
	var own []reflect.Type
	for _, p := range All() {
		t := reflect.TypeOf(p.own)
		own = append(own, t)
		for _, f := range strictyaml.Fields(t) {
			at := field{f.Owner, f.Name}
			of[at] = append(of[at], string(p.Name))
		}
	}
	named := *s
	named.Comment = func(t reflect.Type, name string) string {
		text := s.Comment(t, name)
		if protocols := of[field{t, name}]; protocols != nil {
			meaning, rest, _ := strings.Cut(text, " Default: ")
			text = fmt.Sprintf("%s Protocols: %s. Default: %s", meaning, strings.Join(protocols, ", "), rest)
		}
		return text
	}
	return named.Struct(reflect.TypeFor[Settings](), own...)
}
