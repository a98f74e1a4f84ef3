// Package advise computes settings for Redlock from what its user knows of clocks, pauses, the network and the nodes: the
// smallest that are safe, by the formulas of package sweep, each confirmed by the simulator on both sides, with what they
// cost and what no setting can prevent. Start at [For].
package advise
