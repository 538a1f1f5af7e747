package secrets

import (
	"bytes"
	"slices"
	"strings"
)

// algorithms begin the names of what passwords are made of or kept in.
var algorithms = []string{"sha", "argon2", "pbkdf2", "bcrypt", "scrypt", "base64", "utf", "uint", "int", "varchar", "md5", "oauth2", "v1", "v2", "v3"}

// MayBePassword reports what may be the password where somebody says that it is: a word of
// letters and digits, and none that is used of passwords themselves.
func MayBePassword(value []byte) bool {
	if len(value) < 6 || !IsGiven(value) || bytes.ContainsAny(value, "()[]{}<>") || hasEnding(value) {
		return false
	}
	d := judge(value)
	lower := strings.ToLower(string(value[:min(len(value), mostJudged)]))
	isOne := func(name string) bool { return strings.HasPrefix(lower, name) }
	return d.digits >= 1 && d.letters >= 1 && d.different >= 5 && !slices.ContainsFunc(algorithms, isOne)
}

// LooksDrawn reports what looks drawn by lot, and no path, variable or example.
func LooksDrawn(value []byte) bool {
	return len(value) > 0 && IsGiven(value) && !isOther(value) && isRandom(value, 3)
}
