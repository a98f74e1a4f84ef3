// Package settings draws what a search sets itself where no file says it: the lock's options, the nodes, the network, and, with
// each of them, the budget under which a lock with these settings must hold.
//
// Start at [Draw]. To add a setting: a file with its knob, and its line in knobs.
package settings
