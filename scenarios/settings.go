package scenarios

import (
	"path/filepath"
	"strings"

	"go.yaml.in/yaml/v3"

	"redlocksim/faults"
	"redlocksim/internal/strictyaml"
	"redlocksim/scenarios/protocols"
	"redlocksim/sim/storage"
)

// LoadSettings reads a settings file: what a scenario file says of the lock, the nodes, the network, the storage and the
// budget, without a workload, faults and expectations. All of it may be left out. A scenario file will do as well; it must
// not have cases. What comes back has no clients and no timeline, and claims to hold. Errors are as those of Load.
func LoadSettings(path string) (*Scenario, error) {
	data, err := strictyaml.ReadFile(path)
	if err != nil {
		return nil, err
	}
	return ParseSettings(path, data)
}

// ParseSettings is LoadSettings for the content of a file.
func ParseSettings(path string, data []byte) (*Scenario, error) {
	return decodeSettings(path, func(into any) error { return strictyaml.Decode(path, data, into) })
}

// ParseSettingsNode is ParseSettings for a file that was parsed, or made of parts of one.
func ParseSettingsNode(path string, n *yaml.Node) (*Scenario, error) {
	return decodeSettings(path, func(into any) error { return strictyaml.DecodeNode(path, n, into) })
}

func decodeSettings(path string, decode func(into any) error) (*Scenario, error) {
	x := settings{name: strings.TrimSuffix(filepath.Base(path), filepath.Ext(path))}
	if err := decode(&x); err != nil {
		return nil, err
	}
	return x.scenario.Settings(), nil
}

// Settings is the scenario without its clients, timeline and expectations.
func (s *Scenario) Settings() *Scenario {
	x := Default()
	x.Name, x.Title, x.Source, x.Claim = s.Name, s.Title, "settings", Holds
	x.Explanation = "Settings, and the assumptions under which they are to be safe."
	x.Lock, x.Nodes, x.Network, x.Storage, x.Budget = s.Lock, s.Nodes, s.Network, s.Storage, s.Budget
	x.StepTime = s.StepTime
	x.Resources, x.Semaphores = s.Resources, s.Semaphores
	return &x
}

// EncodeSettings writes the settings of a scenario as a file that ParseSettings reads: a scenario whose one client asks for the
// lock.
func (s *Scenario) EncodeSettings() ([]byte, error) {
	x := s.Settings()
	x.Clients = []string{"client-1"}
	ask := Step{Kind: TryLockStep}
	if len(x.Resources) > 1 {
		ask.Resource = x.Resources[:1]
	}
	x.Timeline = []Item{{Client: x.Clients[0], Do: []Step{ask}, Repeat: 1}}
	return x.Encode()
}

// settings is a settings file, or a scenario file with one scenario.
type settings struct {
	name     string
	scenario *Scenario
}

func (x *settings) UnmarshalNode(d *strictyaml.Decoder, n *yaml.Node) {
	if n.Kind == yaml.MappingNode && child(n, "timeline") != n {
		doc := document{name: x.name}
		doc.UnmarshalNode(d, n)
		switch len(doc.scenarios) {
		case 0: // said already
		case 1:
			x.scenario = doc.scenarios[0]
		default:
			d.Errorf(child(n, "cases"), "cases", nil, "of a scenario with cases one must be chosen")
		}
		return
	}
	fallback := Default()
	raw := struct {
		Title      string             `yaml:"title"`
		Resources  []string           `yaml:"resources"`
		Semaphores []string           `yaml:"semaphores"`
		Lock       protocols.Settings `yaml:"lock"`
		Nodes      Nodes              `yaml:"nodes"`
		Network    Network            `yaml:"network"`
		StepTime   Latency            `yaml:"step-time"`
		Storage    storage.Kind       `yaml:"storage"`
		Budget     faults.Budget      `yaml:"budget"`
	}{Title: x.name, Resources: fallback.Resources, Lock: fallback.Lock, Nodes: fallback.Nodes, Network: fallback.Network}
	if !d.Decode(n, &raw) {
		return
	}
	s := fallback
	s.Name, s.Title, s.Lock, s.Nodes, s.Network, s.Storage, s.Budget = x.name, raw.Title, raw.Lock, raw.Nodes, raw.Network, raw.Storage, raw.Budget
	s.Resources, s.Semaphores, s.StepTime = raw.Resources, raw.Semaphores, raw.StepTime
	c := check{d: d, s: &s, n: n}
	c.resources()
	c.semaphores()
	c.nodes()
	x.scenario = &s
}
