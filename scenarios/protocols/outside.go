package protocols

import "redlocksim/redlock"

// Options are the settings of protocol redlock as package redlock takes them, for who runs it outside of the simulator.
func (s Settings) Options() []redlock.Option { return s.options() }
