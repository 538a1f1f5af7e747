package projects

import (
	"time"
)

func (b *Base) Now() time.Time { return b.Clock() }

// instant is when something was heard: by the clock, which may be set, and by how long
// the system had been up, 0 where that is not known.
type instant struct {
	At     time.Time     `json:"at,omitzero"`
	Uptime time.Duration `json:"up,omitempty"`
}

// clockSlack is how far clock and uptime may part without that the clock was set.
const clockSlack = 2 * time.Second

func (b *Base) InstantNow() instant { return instant{b.Now(), b.Uptime()} }

// ElapsedSince is how long an instant of this boot of the system is past.
func (b *Base) ElapsedSince(i instant) time.Duration {
	if i.Uptime == 0 {
		return WallTime(b.Now()).Sub(WallTime(i.At))
	}
	return b.Uptime() - i.Uptime
}

// IsTimeSince reports whether a time that somebody else has written down, by the same clock,
// is not before an instant. Where the clock was set meanwhile, how long ago both are
// counts; a time to come was written down before that.
func (b *Base) IsTimeSince(i instant, at time.Time) bool {
	now, at := WallTime(b.Now()), WallTime(at)
	if set := b.ElapsedSince(i) - now.Sub(WallTime(i.At)); set.Abs() < clockSlack || at.After(now) {
		return !at.Before(WallTime(i.At))
	}
	return now.Sub(at) <= b.ElapsedSince(i)
}

// WallTime is a time without what this process alone knows of it.
func WallTime(t time.Time) time.Time { return t.Round(0) }

// LastHookInstant is when a mission's agent called a hook last.
func (b *Base) LastHookInstant(m *Mission) instant {
	return b.instantInThisBoot(m, instant{m.Live.LastHookAt, m.Live.LastHookUptime})
}

// ElapsedSinceHook is how long ago that was.
func (b *Base) ElapsedSinceHook(m *Mission) time.Duration {
	return b.ElapsedSince(b.LastHookInstant(m))
}

// instantInThisBoot is what was noted of a mission, as it counts in this boot of the system.
func (b *Base) instantInThisBoot(m *Mission, noted instant) instant {
	if m.Live.Boot != b.Self.Boot {
		noted.Uptime = 0
	}
	return noted
}

// IsSinceTurnBegan reports whether a time is one since the mission's turn began, or went on.
func (b *Base) IsSinceTurnBegan(m *Mission, at time.Time) bool {
	return b.IsTimeSince(b.promptInstant(m, m.Live.TurnBegan), at)
}

// IsSincePrompt is IsSinceTurnBegan for the user's own prompt.
func (b *Base) IsSincePrompt(m *Mission, at time.Time) bool {
	return b.IsTimeSince(b.promptInstant(m, m.Live.PromptedAt), at)
}

// promptInstant is when the prompt was heard that the mission has, or what came after it.
func (b *Base) promptInstant(m *Mission, noted instant) instant {
	if m.LastPrompt != nil && noted.At.Before(m.LastPrompt.At) { // nobody noted it
		return instant{At: m.LastPrompt.At}
	}
	return b.instantInThisBoot(m, noted)
}

// IsSinceLaunch reports whether a time is one since the mission's agent was launched; any
// is of one that Umbra has not.
func (b *Base) IsSinceLaunch(m *Mission, at time.Time) bool {
	return b.IsTimeSince(b.instantInThisBoot(m, m.Live.LaunchedAt), at)
}

// NoteAgentHeard notes that a mission's agent was heard of now.
func (b *Base) NoteAgentHeard(m *Mission) {
	b.SwitchToThisBoot(m)
	m.Live.LastHookAt, m.Live.LastHookUptime = b.Now(), b.Uptime()
}

// SwitchToThisBoot has what is noted from now on be of this boot of the system, and what was
// noted in another one count by the clock.
func (b *Base) SwitchToThisBoot(m *Mission) {
	if m.Live.Boot != b.Self.Boot {
		m.Live.LastHookUptime, m.Live.PromptedAt.Uptime, m.Live.TurnBegan.Uptime, m.Live.LaunchedAt.Uptime = 0, 0, 0, 0
	}
	m.Live.Boot = b.Self.Boot
}
