package scenarios

import (
	"fmt"

	"redlocksim/internal/strictyaml"
)

// Encode is the scenario as a file that Parse reads as the same scenario, but for its name, which is the file's. What is
// as in Default is left out. An error says what no file can say.
func (s *Scenario) Encode() ([]byte, error) {
	data, err := strictyaml.Encode(s, Default())
	if err != nil {
		return nil, fmt.Errorf("scenarios: %s: %w", s.Name, err)
	}
	return data, nil
}
