package sweep

import (
	"path/filepath"
	"strings"

	"go.yaml.in/yaml/v3"

	"redlocksim/faults"
	"redlocksim/internal/strictyaml"
	"redlocksim/scenarios"
	"redlocksim/scenarios/protocols"
	"redlocksim/sim/storage"
)

// Load reads a sweep file. A file that is wrong gives a strictyaml.Errors, one that cannot be read an error of package os.
func Load(path string) (Spec, error) {
	data, err := strictyaml.ReadFile(path)
	if err != nil {
		return Spec{}, err
	}
	return parse(path, data)
}

// file is a sweep file.
type file struct {
	Title     string                            `yaml:"title"`
	Preset    strictyaml.Located[string]        `yaml:"preset"`
	Settings  strictyaml.Located[*settingsPart] `yaml:"settings"`
	Schedules strictyaml.Located[names]         `yaml:"schedules"`
	Axes      strictyaml.Ordered[values]        `yaml:"axes"`
	Frontier  strictyaml.Located[string]        `yaml:"frontier"`
	Bisect    bool                              `yaml:"bisect"`
	Random    int                               `yaml:"random"`
	Seed      uint64                            `yaml:"seed"`
}

type names = []string

// settingsPart is the settings of a sweep file.
type settingsPart struct {
	Resources strictyaml.Located[names] `yaml:"resources"`
	Lock      protocols.Settings        `yaml:"lock"`
	Nodes     scenarios.Nodes           `yaml:"nodes"`
	Network   scenarios.Network         `yaml:"network"`
	Storage   storage.Kind              `yaml:"storage"`
	Budget    faults.Budget             `yaml:"budget"`
}

// parse reads the content of a file. Its keys are title, preset, settings (as in a settings file, but that messages
// take no time unless it says otherwise), schedules, axes (from paths to a list of values, or a range), frontier (a path),
// bisect, random and seed.
func parse(path string, data []byte) (Spec, error) {
	fallback := scenarios.Default()
	f := file{Settings: strictyaml.Located[*settingsPart]{Value: &settingsPart{Lock: fallback.Lock, Nodes: fallback.Nodes}}}
	if err := strictyaml.Decode(path, data, &f); err != nil {
		return Spec{}, err
	}
	at := func(line, column int, err error) error {
		return strictyaml.Errors{strictyaml.Errorf(path, max(line, 1), max(column, 1), "", nil, "%v", err)}.Err()
	}
	base, err := f.base(fallback)
	if err != nil {
		return Spec{}, at(1, 1, err)
	}
	if on := f.Settings.Value.Resources; on.Line > 0 {
		if _, err := base.Settings(); err != nil && strings.HasPrefix(err.Error(), "resources") {
			return Spec{}, at(on.Line, on.Column, err)
		}
	}
	spec := Spec{Base: base}
	if f.Preset.Line > 0 {
		if spec, err = Preset(f.Preset.Value, f.own(&base)); err != nil {
			return spec, at(f.Preset.Line, f.Preset.Column, err)
		}
	}
	if f.Preset.Line == 0 || f.Schedules.Line > 0 {
		if spec.Schedules, err = FindSchedules(f.Schedules.Value...); err != nil {
			return spec, at(f.Schedules.Line, f.Schedules.Column, err)
		}
	}
	for _, e := range f.Axes {
		a, err := newAxis(e.Key, e.Value)
		if err == nil {
			err = spec.checkAxis(a)
		}
		if err != nil {
			return spec, at(e.Line, e.Column, err)
		}
		if f.Preset.Line > 0 {
			spec.Vary(a)
		} else {
			spec.Axes = append(spec.Axes, a)
		}
	}
	if spec.Name = f.Title; spec.Name == "" {
		spec.Name = strings.TrimSuffix(filepath.Base(path), filepath.Ext(path))
	}
	if f.Frontier.Line > 0 {
		spec.Frontier = f.Frontier.Value
	}
	spec.Yours = f.own(&base)
	spec.Bisect, spec.Random, spec.Seed = f.Bisect, f.Random, f.Seed
	if err := spec.Check(); err != nil {
		return spec, at(f.Frontier.Line, f.Frontier.Column, err)
	}
	return spec, nil
}

// own is the base if it has settings of the file.
func (f *file) own(base *Base) *Base {
	if f.Settings.Line == 0 {
		return nil
	}
	return base
}

// base has the file's settings, and those of the fallback where it has none.
func (f *file) base(fallback scenarios.Scenario) (Base, error) {
	s, settings := fallback, f.Settings.Value
	if settings.Resources.Line > 0 {
		s.Resources = settings.Resources.Value
	}
	s.Lock, s.Nodes, s.Network, s.Storage, s.Budget = settings.Lock, settings.Nodes, settings.Network, settings.Storage, settings.Budget
	return SettingsOf(s.Settings())
}

// values are those of an axis: a text, as on a command line, or a list.
type values []string

func (v *values) UnmarshalNode(d *strictyaml.Decoder, n *yaml.Node) {
	if n.Kind == yaml.ScalarNode {
		*v = split(n.Value)
		return
	}
	if n.Kind != yaml.SequenceNode {
		d.Errorf(n, "", nil, "the values of an axis are a list, or a range from:to:step")
		return
	}
	for _, item := range n.Content {
		word := item.Value
		if item.Kind != yaml.ScalarNode {
			flow := clone(item)
			flow.Style = yaml.FlowStyle
			text, err := yaml.Marshal(flow)
			if err != nil {
				d.Errorf(item, "", nil, "%v", err)
				return
			}
			word = strings.TrimSpace(string(text))
		}
		*v = append(*v, word)
	}
}
