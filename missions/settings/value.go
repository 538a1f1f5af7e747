package settings

import (
	"errors"
	"fmt"
	"math"
	"strconv"
	"strings"
	"time"
)

// parse gives one value of a key from its words, and checks it: what the key's
// field points to has that type. The error says, after the key's name, what it
// takes, and what it was given.
func (k Key) parse(words []string) (any, error) {
	value, err := k.typed(words)
	if err == nil && k.check != nil {
		err = k.check(value)
	}
	if err != nil {
		return nil, fmt.Errorf("takes %s, not %w", k.takes(), err)
	}
	return value, nil
}

// typed is parse before the check; its error is what can't be taken.
func (k Key) typed(words []string) (any, error) {
	if k.many() {
		for _, w := range words {
			if k.commands && strings.TrimSpace(w) == "" {
				return nil, errors.New("an empty one")
			}
		}
		return words, nil
	}
	if len(words) != 1 {
		return nil, fmt.Errorf("%d values", len(words))
	}
	word := words[0]
	var value any
	ok := false
	switch k.field(&Config{}).(type) {
	case *int64:
		n, err := parseBytes(word)
		value, ok = n, err == nil && n >= k.least
	case *int:
		n, err := strconv.ParseInt(strings.ReplaceAll(word, "_", ""), 10, 32)
		value, ok = int(n), err == nil && n >= k.least
	case *Duration:
		d, err := ParseDuration(word)
		value, ok = Duration(d), err == nil && int64(d) >= k.least
		if k.never && strings.EqualFold(word, never) {
			value, ok = Duration(0), true
		}
	case *bool:
		value, ok = parseBool(word)
	default:
		value, ok = word, true
	}
	if !ok {
		return nil, fmt.Errorf("%q", word)
	}
	return value, nil
}

// ParseDuration is time.ParseDuration that takes days too, such as 30d.
func ParseDuration(word string) (time.Duration, error) {
	if digits, days := strings.CutSuffix(word, "d"); days {
		n, err := strconv.ParseUint(digits, 10, 15)
		return time.Duration(n) * day, err
	}
	return time.ParseDuration(word)
}

const day = 24 * time.Hour

// never is what a duration may be after which something is done.
const never = "never"

// DurationText is a duration as it is typed, in days where it is whole ones.
func DurationText(d time.Duration) string {
	if d >= day && d%day == 0 {
		return strconv.FormatInt(int64(d/day), 10) + "d"
	}
	return d.String()
}

func parseBool(word string) (value, ok bool) {
	switch strings.ToLower(word) {
	case "true", "yes", "on":
		return true, true
	case "false", "no", "off":
		return false, true
	}
	return false, false
}

// put makes v, which parse gave, the value of the key.
func (k Key) put(c *Config, v any) {
	switch p := k.field(c).(type) {
	case *int64:
		*p = v.(int64)
	case *int:
		*p = v.(int)
	case *Duration:
		*p = v.(Duration)
	case *bool:
		*p = v.(bool)
	case *string:
		*p = v.(string)
	case *[]string:
		*p = v.([]string)
	}
}

// value is a key's value in a Config, as JSON has it: a size in bytes, a
// duration as text, a list that is never null.
func (k Key) value(c Config) any {
	switch p := k.field(&c).(type) {
	case *int64:
		return *p
	case *int:
		return *p
	case *Duration:
		if k.never && *p == 0 {
			return never
		}
		return DurationText(time.Duration(*p))
	case *bool:
		return *p
	case *[]string:
		return append([]string{}, *p...)
	case *string:
		return *p
	}
	return nil
}

// words are a value as it is typed.
func (k Key) words(c Config) []string {
	switch v := k.value(c).(type) {
	case []string:
		return v
	case int64:
		return []string{formatBytes(v)}
	default:
		return []string{fmt.Sprint(v)}
	}
}

// byteUnits are what a size may end with, the largest first.
var byteUnits = [...]struct {
	name string
	size int64
}{
	{"TiB", 1 << 40}, {"GiB", 1 << 30}, {"MiB", 1 << 20}, {"KiB", 1 << 10},
	{"TB", 1e12}, {"GB", 1e9}, {"MB", 1e6}, {"KB", 1e3}, {"B", 1},
}

// parseBytes reads a size: a number of bytes, or one of a unit.
func parseBytes(s string) (int64, error) {
	digits, size := s, int64(1)
	for _, u := range byteUnits {
		if rest, ok := strings.CutSuffix(strings.ToUpper(s), strings.ToUpper(u.name)); ok {
			digits, size = strings.TrimSpace(s[:len(rest)]), u.size
			break
		}
	}
	n, err := strconv.ParseInt(strings.ReplaceAll(digits, "_", ""), 10, 64)
	if err != nil || n < 0 || n > math.MaxInt64/size {
		return 0, errors.New("no size")
	}
	return n * size, nil
}

// formatBytes is a size in the largest unit that says it exactly.
func formatBytes(n int64) string {
	for _, u := range byteUnits[:4] {
		if n >= u.size && n%u.size == 0 {
			return strconv.FormatInt(n/u.size, 10) + u.name
		}
	}
	return strconv.FormatInt(n, 10)
}
