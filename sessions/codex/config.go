package codex

import (
	"encoding/json"
	"fmt"
	"path/filepath"
	"slices"

	"github.com/pelletier/go-toml/v2"

	"github.com/umbra-vcs/umbra/sessions"
	"github.com/umbra-vcs/umbra/sessions/jsontext"
)

var _ sessions.Configured = Adapter{}

// userSettings is the name of the user's settings below Root.
const userSettings = "config.toml"

func (a Adapter) configFile(env sessions.Environ) string {
	return filepath.Join(a.Root(env), userSettings)
}

// ConfigRoot implements sessions.Configured.
func (a Adapter) ConfigRoot(env sessions.Environ) string { return a.Root(env) }

// ConfigPaths implements sessions.Configured.
func (Adapter) ConfigPaths() []string {
	return []string{userSettings, "AGENTS.md", "AGENTS.override.md", "prompts/", "skills/", "rules/"}
}

// CleanConfig implements sessions.Configured: of settings, what may be a secret, what
// Codex notes there by itself, and comments, which may be a setting that was put
// aside, go; keys are in order.
func (Adapter) CleanConfig(name string, content []byte) ([]byte, error) {
	if name != userSettings {
		return content, nil
	}
	var settings map[string]any
	if err := toml.Unmarshal(content, &settings); err != nil {
		return nil, fmt.Errorf("read %s: %w", name, err)
	}
	delete(settings, "projects") // which it was told to trust
	delete(settings, "notice")   // what it has said once
	if hooks, ok := settings["hooks"].(map[string]any); ok {
		delete(hooks, "state") // which it was told to trust
	}
	return toml.Marshal(withoutSecrets(nil, settings))
}

// withoutSecrets is a value of the settings with "" for each secret in it, and
// placeholders for what looks like one.
func withoutSecrets(path []string, value any) any {
	switch value := value.(type) {
	case map[string]any:
		for key, member := range value {
			value[key] = withoutSecrets(append(slices.Clip(path), key), member)
		}
	case []any:
		for i, member := range value {
			value[i] = withoutSecrets(append(slices.Clip(path), ""), member)
		}
	default:
		if isSecret(path, value) {
			return ""
		}
		if text, ok := value.(string); ok {
			return jsontext.RedactSetting(path, text)
		}
	}
	return value
}

// isSecret reports whether a text, number, truth or time may be a secret. A table
// named set has variables (shell_environment_policy).
func isSecret(path []string, value any) bool {
	text, err := json.Marshal(value) // there is none of NaN
	return err == nil && (jsontext.IsSecretSetting(path, text) || slices.Contains(path[:len(path)-1], "set"))
}

// config is what of Codex's configuration matters to hooks.
type config struct {
	hooksOff bool
	notify   bool            // its user has a program for ends of turns
	trusted  map[string]bool // by the hook's place
	off      map[string]bool
}

// config reads config.toml. What can't be read counts as not there: Codex does not
// start with it.
func (a Adapter) config(env sessions.Environ, read func(string) ([]byte, error)) config {
	c := config{trusted: map[string]bool{}, off: map[string]bool{}}
	if read == nil {
		return c
	}
	text, err := read(a.configFile(env))
	if err != nil {
		return c
	}
	var settings struct {
		Notify   any `toml:"notify"`
		Features any `toml:"features"`
		Hooks    any `toml:"hooks"`
	}
	if err := toml.Unmarshal(text, &settings); err != nil {
		return c
	}
	on, told := hooksFeature(settings.Features)
	c.notify, c.hooksOff = settings.Notify != nil, told && !on
	for place, state := range table(table(settings.Hooks)["state"]) {
		c.trusted[place] = table(state)["trusted_hash"] != nil
		c.off[place] = table(state)["enabled"] == false
	}
	return c
}

// table is a value of the configuration that is to be a table; nil if it is none.
func table(value any) map[string]any {
	t, _ := value.(map[string]any)
	return t
}

// overridden reports whether an override on the command line, as of features.hooks=false,
// switches all hooks on or off.
func overridden(override string) (on, told bool) {
	var settings struct {
		Features any `toml:"features"`
	}
	if err := toml.Unmarshal([]byte(override), &settings); err != nil {
		return false, false // a text without quotes, which no feature is
	}
	return hooksFeature(settings.Features)
}

// hooksFeature reports whether the configuration's features have that of all hooks on
// or off.
func hooksFeature(features any) (on, told bool) {
	for name, value := range table(features) {
		if isHooks(name) {
			return value == true, true
		}
	}
	return false, false
}

// isHooks reports whether a feature is that of hooks, by its name or its earlier
// one.
func isHooks(feature string) bool { return feature == "hooks" || feature == "codex_hooks" }
