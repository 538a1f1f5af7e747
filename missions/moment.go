package missions

import (
	"strconv"
	"strings"
	"time"
)

// Moment is a parsed name of a snapshot. Base is the mission, pin or id, ""
// for the default mission.
type Moment struct {
	Base string
	Form MomentForm
	N    int // Back: snapshots back. Turn, Inside: the turn; negative counts finished turns from the end
	K    int // Inside: which snapshot of the turn
	When string
}

// MomentForm is which way a moment is named.
type MomentForm int

// The forms of moments.
const (
	MomentNewest    MomentForm = iota // M, an id, a pin
	MomentBack                        // M~2
	MomentTurn                        // M@5, M@-1
	MomentInTurn                      // M@5.0
	MomentFirst                       // M@start
	MomentForkPoint                   // M@fork
	MomentByTime                      // M@{10m}
)

var (
	backPattern = LazyPattern(`^(.*)~([0-9]{1,9})$`)
	turnPattern = LazyPattern(`^(-?[0-9]{1,9})(?:\.([0-9]{1,9}))?$`)
)

// ParseMoment reads the name of a moment. It does not look whether the moment
// exists.
func ParseMoment(s string) (Moment, error) {
	base, rest, at := strings.Cut(s, "@")
	if !at {
		return parseMomentBack(s)
	}
	if base != "" && !IsMomentBase(base) {
		return Moment{}, momentError(s)
	}
	switch {
	case rest == "start":
		return Moment{Base: base, Form: MomentFirst}, nil
	case rest == "fork":
		return Moment{Base: base, Form: MomentForkPoint}, nil
	case strings.HasPrefix(rest, "{") && strings.HasSuffix(rest, "}") && len(rest) > 2:
		return Moment{Base: base, Form: MomentByTime, When: rest[1 : len(rest)-1]}, nil
	}
	m := turnPattern().FindStringSubmatch(rest)
	if m == nil {
		return Moment{}, momentError(s)
	}
	turn, _ := strconv.Atoi(m[1])
	if m[2] == "" {
		if strings.HasPrefix(m[1], "-") && turn == 0 {
			return Moment{}, momentError(s)
		}
		return Moment{Base: base, Form: MomentTurn, N: turn}, nil
	}
	if turn < 0 {
		return Moment{}, momentError(s)
	}
	k, _ := strconv.Atoi(m[2])
	return Moment{Base: base, Form: MomentInTurn, N: turn, K: k}, nil
}

func parseMomentBack(s string) (Moment, error) {
	if m := backPattern().FindStringSubmatch(s); m != nil && (m[1] == "" || IsMomentBase(m[1])) {
		n, _ := strconv.Atoi(m[2])
		return Moment{Base: m[1], Form: MomentBack, N: n}, nil
	}
	if !IsMomentBase(s) {
		return Moment{}, momentError(s)
	}
	return Moment{Base: s}, nil
}

// IsMomentBase reports whether a text can be a mission, a pin or an id, or a mission
// that was fetched.
func IsMomentBase(s string) bool {
	_, mission, _ := SplitFetched(s)
	return NamePattern().MatchString(mission) || IDPrefixPattern().MatchString(mission)
}

// SplitFetched splits the name of a mission that was fetched, REMOTE/MISSION. Of any other
// text the whole is the mission.
func SplitFetched(name string) (remote, mission string, fetched bool) {
	remote, mission, fetched = strings.Cut(name, "/")
	if !fetched || !NamePattern().MatchString(remote) {
		return "", name, false
	}
	return remote, mission, true
}

func momentError(s string) *Error {
	return Errorf(KindNotFound, "a moment is a mission, a snapshot's id, a pin, or M@5, M@-1, M@5.0, M~2, M@start, M@{10m}: see `umbra log`",
		"%q names no moment", s)
}

// String is the moment as it is typed; ParseMoment gives it back.
func (m Moment) String() string {
	switch m.Form {
	case MomentBack:
		return m.Base + "~" + Itoa(m.N)
	case MomentTurn:
		return m.Base + "@" + Itoa(m.N)
	case MomentInTurn:
		return m.Base + "@" + Itoa(m.N) + "." + Itoa(m.K)
	case MomentFirst:
		return m.Base + "@start"
	case MomentForkPoint:
		return m.Base + "@fork"
	case MomentByTime:
		return m.Base + "@{" + m.When + "}"
	}
	return m.Base
}

// ParseWhen reads a time as people type it: an age (90s, 10m, 2h, 3d, 1w) or a
// date with or without a time, in now's zone.
func ParseWhen(s string, now time.Time) (time.Time, error) {
	s = strings.TrimSuffix(strings.TrimSpace(s), " ago")
	if age, ok := parseAge(s); ok {
		return now.Add(-age), nil
	}
	for _, layout := range [...]string{time.RFC3339, "2006-01-02 15:04:05", "2006-01-02 15:04", "2006-01-02T15:04:05", "2006-01-02T15:04", "2006-01-02"} {
		if t, err := time.ParseInLocation(layout, s, now.Location()); err == nil {
			return t, nil
		}
	}
	for _, layout := range [...]string{"15:04:05", "15:04"} {
		if t, err := time.ParseInLocation(layout, s, now.Location()); err == nil {
			y, m, d := now.Date()
			return time.Date(y, m, d, t.Hour(), t.Minute(), t.Second(), 0, now.Location()), nil
		}
	}
	return time.Time{}, Errorf(KindUsage, "use an age such as 10m, 2h or 3d, or a time such as 2026-01-31 16:40", "%q is no time", s)
}

func parseAge(s string) (time.Duration, bool) {
	if n := len(s); n > 1 {
		unit := map[byte]time.Duration{'d': 24 * time.Hour, 'w': 7 * 24 * time.Hour}[s[n-1]]
		if count, err := strconv.Atoi(s[:n-1]); unit > 0 && err == nil && count >= 0 && count < 1e5 {
			return time.Duration(count) * unit, true
		}
	}
	d, err := time.ParseDuration(s)
	return d, err == nil && d >= 0
}
