package strictyaml_test

import (
	"errors"
	"fmt"
	"strings"
	"time"

	"go.yaml.in/yaml/v3"

	"redlocksim/internal/strictyaml"
)

// An experiment has one field of everything that can be decoded.
type experiment struct {
	Name   string                            `yaml:"name,required"`
	Seed   int64                             `yaml:"seed"`
	Rounds uint8                             `yaml:"rounds"`
	Times  int                               `yaml:"times" range:"1..9"`
	Wait   *time.Duration                    `yaml:"wait" range:"0s.."`
	Skew   int8                              `yaml:"skew"`
	Quick  bool                              `yaml:"quick"`
	TTL    time.Duration                     `yaml:"ttl"`
	Kind   kind                              `yaml:"kind"`
	Even   even                              `yaml:"even"`
	Clock  *clock                            `yaml:"clock"`
	Nodes  []node                            `yaml:"nodes"`
	Leader string                            `yaml:"leader"`
	Links  strictyaml.Ordered[time.Duration] `yaml:"links"`
	Cases  strictyaml.Ordered[clock]         `yaml:"cases"`
	Steps  []step                            `yaml:"steps"`
	Tree   tree                              `yaml:"tree"`
	Later  yamlBytes                         `yaml:"later"`

	limits `yaml:",inline"`

	Ignored any
}

type limits struct {
	MaxSteps int `yaml:"max_steps"`
}

type yamlBytes []uint8

type clock struct {
	Drift string        `yaml:"drift,required"`
	Delay time.Duration `yaml:"delay"`
}

type node struct {
	Name string `yaml:"name,required"`
	Port uint16 `yaml:"port"`
}

type tree struct {
	Sub []tree `yaml:"sub"`
}

type kind string

var _ = strictyaml.EnumOf[kind]("kind", "crash", "pause")

type even int

var errOdd = errors.New("not even")

func (e *even) UnmarshalScalar(text string) error {
	if !strings.HasSuffix(text, "2") {
		return fmt.Errorf("digits: %w", errOdd)
	}
	*e = 2
	return nil
}

// A step is the word unlock, or one of hold: duration and crash: node.
type step struct {
	Unlock bool
	Hold   time.Duration
	Crash  string
}

func (s *step) UnmarshalNode(d *strictyaml.Decoder, n *yaml.Node) {
	if n.Kind == yaml.ScalarNode {
		if s.Unlock = n.Value == "unlock"; !s.Unlock {
			d.Errorf(n, n.Value, []string{"unlock", "hold", "crash"}, "unknown step")
		}
		return
	}
	switch key, value, _ := d.OneOf(n, "hold", "crash"); key {
	case "hold":
		d.Decode(value, &s.Hold)
	case "crash":
		d.Decode(value, &s.Crash)
	}
}
