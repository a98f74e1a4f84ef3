package strictyaml_test

import (
	"reflect"
	"strings"
	"testing"

	"redlocksim/internal/strictyaml"
)

type level uint8

const (
	low level = iota
	high
)

var levels = strictyaml.Enum[level]("level").Word("low", low).Word("high", high).Word("top", high)

// A value with two words is written as the first; one that is not set is left out, and a word there is not is an error.
func TestWords(t *testing.T) {
	type file struct {
		Level level `yaml:"level"`
		Kind  kind  `yaml:"kind"`
	}
	var f file
	if err := strictyaml.Decode("f", []byte("level: top"), &f); err != nil || f.Level != high {
		t.Errorf("%v, %v", f, err)
	}
	if text, err := strictyaml.Encode(f, file{}); err != nil || string(text) != "level: high\n" {
		t.Errorf("%s, %v", text, err)
	}
	for text, want := range map[string]string{
		"level: hgih":  `f:1:8: level: no such level "hgih"; did you mean "high"?`,
		"level: xyzzy": `f:1:8: level: no such level "xyzzy"; valid: low, high, top`,
		"level: [low]": `f:1:8: level: want a single value, got a list`,
	} {
		if err := strictyaml.Decode("f", []byte(text), &f); err == nil || err.Error() != want {
			t.Errorf("%s: %v, want %s", text, err, want)
		}
	}
	if _, err := strictyaml.Encode(file{Level: 7}, file{}); err == nil || !strings.Contains(err.Error(), "no word for level 7") {
		t.Error(err)
	}
	if v, err := levels.Parse("high"); v != high || err != nil {
		t.Error(v, err)
	}
	if v, err := levels.Parse("hi"); v != low || err == nil {
		t.Error(v, err)
	}
	if words := strictyaml.WordsOf(reflect.TypeFor[level]()); strings.Join(words, " ") != "low high top" {
		t.Error(words)
	}
}
