// Package sweep charts where a lock is safe: it runs the worst schedules that a budget of assumptions allows, and random
// experiments, at every point of a grid of settings, and finds the frontier between the settings that break and those that
// hold. For the settings that the literature gives a formula for, it says by how much what was found differs from it.
//
// Start at [Run] with a [Spec], made by [Preset] or [Load] or by hand. Any key of a settings file can be an axis.
package sweep
