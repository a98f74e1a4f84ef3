// Package sweep charts where a lock is safe: it runs the worst schedules that a budget of assumptions allows, and random
// experiments, at every point of a grid of settings, and finds the frontier between settings that break and settings that
// hold. If the literature has a formula for a setting, it compares the frontier with that.
//
// Start at [Run] with a [Spec], made by [Preset] or [Load] or by hand. Any key of a settings file can be an axis.
package sweep
