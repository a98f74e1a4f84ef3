package strictyaml

import (
	"slices"
	"strings"

	"go.yaml.in/yaml/v3"
)

// OneOf is for a union written as a mapping with exactly one of several keys, as hold: 5s. It returns the key and its value. If
// n is anything else it reports that and returns false.
func (d *Decoder) OneOf(n *yaml.Node, keys ...string) (key string, value *yaml.Node, ok bool) {
	if n.Kind != yaml.MappingNode {
		d.want(n, "a mapping with one key of "+strings.Join(keys, ", "))
		return "", nil, false
	}
	before := d.reports
	for k, v := range d.entries(n) {
		switch {
		case !slices.Contains(keys, k.Value):
			d.Errorf(k, k.Value, keys, "unknown key")
		case ok:
			d.Errorf(k, k.Value, nil, "a second key, where %q is given already:", key)
		default:
			key, value, ok = k.Value, v, true
		}
	}
	if !ok && d.reports == before {
		d.Errorf(n, "", nil, "want one key of %s", strings.Join(keys, ", "))
	}
	return key, value, d.reports == before
}
