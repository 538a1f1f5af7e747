package missions

import "time"

// instant is when something was heard: by the clock, which may be set, and by how long
// the system had been up, 0 where that is not known.
type instant struct {
	At time.Time     `json:"at,omitzero"`
	Up time.Duration `json:"up,omitempty"`
}

// clockSlack is how far clock and uptime may part without that the clock was set.
const clockSlack = 2 * time.Second

func (l *Local) instant() instant { return instant{l.now(), l.uptime()} }

// ago is how long an instant of this boot of the system is past.
func (l *Local) ago(i instant) time.Duration {
	if i.Up == 0 {
		return wall(l.now()).Sub(wall(i.At))
	}
	return l.uptime() - i.Up
}

// notBefore reports whether a time that somebody else has written down, by the same clock,
// is not before an instant. Where the clock was set meanwhile, how long ago both are
// counts; a time to come was written down before that.
func (l *Local) notBefore(i instant, at time.Time) bool {
	now, at := wall(l.now()), wall(at)
	if set := l.ago(i) - now.Sub(wall(i.At)); set.Abs() < clockSlack || at.After(now) {
		return !at.Before(wall(i.At))
	}
	return now.Sub(at) <= l.ago(i)
}

// wall is a time without what this process alone knows of it.
func wall(t time.Time) time.Time { return t.Round(0) }

// lastHeard is when a mission's agent called a hook last.
func (l *Local) lastHeard(m *loaded) instant {
	return l.inBoot(m, instant{m.live.Heard, m.live.HeardUp})
}

// sinceHeard is how long ago that was.
func (l *Local) sinceHeard(m *loaded) time.Duration { return l.ago(l.lastHeard(m)) }

// inBoot is what was noted of a mission, as it counts in this boot of the system.
func (l *Local) inBoot(m *loaded, noted instant) instant {
	if m.live.Boot != l.self.Boot {
		noted.Up = 0
	}
	return noted
}

// sinceBegun reports whether a time is one since the mission's turn began, or went on.
func (l *Local) sinceBegun(m *loaded, at time.Time) bool {
	return l.notBefore(l.heardAt(m, m.live.Begun), at)
}

// sincePrompt is sinceBegun for the user's own prompt.
func (l *Local) sincePrompt(m *loaded, at time.Time) bool {
	return l.notBefore(l.heardAt(m, m.live.Prompted), at)
}

// heardAt is when the prompt was heard that the mission has, or what came after it.
func (l *Local) heardAt(m *loaded, noted instant) instant {
	if m.LastPrompt != nil && noted.At.Before(m.LastPrompt.At) { // nobody noted it
		return instant{At: m.LastPrompt.At}
	}
	return l.inBoot(m, noted)
}

// sinceLaunch reports whether a time is one since the mission's agent was launched; any
// is of one that Umbra has not.
func (l *Local) sinceLaunch(m *loaded, at time.Time) bool {
	return l.notBefore(l.inBoot(m, m.live.Launched), at)
}

// heardNow notes that a mission's agent was heard of now.
func (l *Local) heardNow(m *loaded) {
	l.inThisBoot(m)
	m.live.Heard, m.live.HeardUp = l.now(), l.uptime()
}

// inThisBoot has what is noted from now on be of this boot of the system, and what was
// noted in another one count by the clock.
func (l *Local) inThisBoot(m *loaded) {
	if m.live.Boot != l.self.Boot {
		m.live.HeardUp, m.live.Prompted.Up, m.live.Begun.Up, m.live.Launched.Up = 0, 0, 0, 0
	}
	m.live.Boot = l.self.Boot
}
