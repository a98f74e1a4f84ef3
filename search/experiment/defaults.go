package experiment

import (
	_ "embed"
	"fmt"

	"redlocksim/scenarios"
)

//go:embed default.yaml
var defaults []byte

// DefaultBase is the scenario of the library's default settings on five nodes, with the assumptions that they are made for.
func DefaultBase() *scenarios.Scenario {
	s, err := scenarios.ParseSettings("default.yaml", defaults)
	if err != nil {
		panic(fmt.Sprintf("experiment: the embedded settings: %v", err))
	}
	return s
}
