package projects

import (
	"time"
)

func (d *Desk) Now() time.Time { return d.Clock() }

// instant is when something was heard: by the clock, which may be set, and by how long
// the system had been up, 0 where that is not known.
type instant struct {
	At     time.Time     `json:"at,omitzero"`
	Uptime time.Duration `json:"up,omitempty"`
}

// clockSlack is how far clock and uptime may part without that the clock was set.
const clockSlack = 2 * time.Second

func (d *Desk) InstantNow() instant { return instant{d.Now(), d.Uptime()} }

// ElapsedSince is how long an instant of this boot of the system is past.
func (d *Desk) ElapsedSince(i instant) time.Duration {
	if i.Uptime == 0 {
		return WallTime(d.Now()).Sub(WallTime(i.At))
	}
	return d.Uptime() - i.Uptime
}

// IsTimeSince reports whether a time that somebody else has written down, by the same clock,
// is not before an instant. Where the clock was set meanwhile, how long ago both are
// counts; a time to come was written down before that.
func (d *Desk) IsTimeSince(i instant, at time.Time) bool {
	now, at := WallTime(d.Now()), WallTime(at)
	if set := d.ElapsedSince(i) - now.Sub(WallTime(i.At)); set.Abs() < clockSlack || at.After(now) {
		return !at.Before(WallTime(i.At))
	}
	return now.Sub(at) <= d.ElapsedSince(i)
}

// WallTime is a time without what this process alone knows of it.
func WallTime(t time.Time) time.Time { return t.Round(0) }

// LastHookInstant is when a mission's agent called a hook last.
func (d *Desk) LastHookInstant(m *Mission) instant {
	return d.instantInThisBoot(m, instant{m.Live.LastHookAt, m.Live.LastHookUptime})
}

// ElapsedSinceHook is how long ago that was.
func (d *Desk) ElapsedSinceHook(m *Mission) time.Duration {
	return d.ElapsedSince(d.LastHookInstant(m))
}

// instantInThisBoot is what was noted of a mission, as it counts in this boot of the system.
func (d *Desk) instantInThisBoot(m *Mission, noted instant) instant {
	if m.Live.Boot != d.Self.Boot {
		noted.Uptime = 0
	}
	return noted
}

// IsSinceTurnBegan reports whether a time is one since the mission's turn began, or went on.
func (d *Desk) IsSinceTurnBegan(m *Mission, at time.Time) bool {
	return d.IsTimeSince(d.promptInstant(m, m.Live.TurnBegan), at)
}

// IsSincePrompt is IsSinceTurnBegan for the user's own prompt.
func (d *Desk) IsSincePrompt(m *Mission, at time.Time) bool {
	return d.IsTimeSince(d.promptInstant(m, m.Live.PromptedAt), at)
}

// promptInstant is when the prompt was heard that the mission has, or what came after it.
func (d *Desk) promptInstant(m *Mission, noted instant) instant {
	if m.LastPrompt != nil && noted.At.Before(m.LastPrompt.At) { // nobody noted it
		return instant{At: m.LastPrompt.At}
	}
	return d.instantInThisBoot(m, noted)
}

// IsSinceLaunch reports whether a time is one since the mission's agent was launched; any
// is of one that Umbra has not.
func (d *Desk) IsSinceLaunch(m *Mission, at time.Time) bool {
	return d.IsTimeSince(d.instantInThisBoot(m, m.Live.LaunchedAt), at)
}

// NoteAgentHeard notes that a mission's agent was heard of now.
func (d *Desk) NoteAgentHeard(m *Mission) {
	d.SwitchToThisBoot(m)
	m.Live.LastHookAt, m.Live.LastHookUptime = d.Now(), d.Uptime()
}

// SwitchToThisBoot has what is noted from now on be of this boot of the system, and what was
// noted in another one count by the clock.
func (d *Desk) SwitchToThisBoot(m *Mission) {
	if m.Live.Boot != d.Self.Boot {
		m.Live.LastHookUptime, m.Live.PromptedAt.Uptime, m.Live.TurnBegan.Uptime, m.Live.LaunchedAt.Uptime = 0, 0, 0, 0
	}
	m.Live.Boot = d.Self.Boot
}
