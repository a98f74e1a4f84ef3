package strictyaml_test

import (
	"testing"

	"go.yaml.in/yaml/v3"

	"redlocksim/internal/strictyaml"
)

// What is put under a path is found there, and leaves the rest as it was.
func TestPaths(t *testing.T) {
	var document yaml.Node
	if err := yaml.Unmarshal([]byte("lock: {ttl: 8s}\nnodes: 3\n"), &document); err != nil {
		t.Fatal(err)
	}
	value := strictyaml.Text("monotonic")
	value.Line, value.Column = 7, 9
	root := strictyaml.Merge(&document, strictyaml.Under("lock.clock", value))
	for path, want := range map[string]string{"lock.ttl": "8s", "lock.clock": "monotonic", "nodes": "3"} {
		if n := strictyaml.At(root, path); n == nil || n.Value != want {
			t.Errorf("%s: %+v, want %s", path, n, want)
		}
	}
	for _, path := range []string{"lock.ttl.x", "nodes.names", "ttl", "lock.drift.factor"} {
		if n := strictyaml.At(root, path); n != nil {
			t.Errorf("%s: %+v", path, n)
		}
	}
	if n := strictyaml.At(document.Content[0], "lock.clock"); n != nil {
		t.Errorf("the base was changed: %+v", n)
	}
	err := strictyaml.DecodeNode("f.yaml", strictyaml.Under("lock.tll", value), &struct {
		Lock struct {
			TTL string `yaml:"ttl"`
		} `yaml:"lock"`
	}{})
	if want := `f.yaml:7:9: lock: unknown key "tll"; did you mean "ttl"?`; err == nil || err.Error() != want {
		t.Errorf("%v, want %s", err, want)
	}
}
