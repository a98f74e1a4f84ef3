package script

import (
	"maps"
	"regexp"
	"slices"
	"strings"

	lua "github.com/yuin/gopher-lua"
)

// visible are the names that redis-server 7.0 gives to scripts, as far as gopher-lua has them, but for math.random. The others
// that gopher-lua has would read files of the host, print, or differ from run to run.
var visible = map[string]string{
	"_G": "assert collectgarbage error getmetatable ipairs load loadstring next pairs pcall rawequal rawget rawset select" +
		" setmetatable tonumber tostring type unpack xpcall",
	lua.MathLibName: "abs acos asin atan atan2 ceil cos cosh deg exp floor fmod frexp huge ldexp log log10 max min mod modf pi pow" +
		" rad sin sinh sqrt tan tanh",
	lua.StringLibName: "byte char dump find format gfind gmatch gsub len lower match rep reverse sub upper",
	lua.TabLibName:    "concat getn insert maxn remove sort",
}

// openGlobals gives an interpreter's scripts what they find. Nothing of it shows the host or can be changed, so that a script
// shares nothing with the next one.
func (in *interpreter) openGlobals() {
	l := in.state
	for _, open := range []lua.LGFunction{lua.OpenBase, lua.OpenTable, lua.OpenString, lua.OpenMath} {
		l.Push(l.NewFunction(open))
		l.Call(0, 0)
	}
	all := l.G.Global
	own := func(library, name string) lua.LGFunction {
		if library != "_G" {
			return all.RawGetString(library).(*lua.LTable).RawGetString(name).(*lua.LFunction).GFunction
		}
		return all.RawGetString(name).(*lua.LFunction).GFunction
	}
	base := in.pick(all, "_G", map[string]lua.LGFunction{"collectgarbage": collects, "tostring": tostring, "rawset": in.rawset(own("_G", "rawset"))})
	format := map[string]lua.LGFunction{"format": format(own(lua.StringLibName, "format"))}
	for _, name := range []string{lua.MathLibName, lua.TabLibName, lua.StringLibName} {
		library := in.pick(all.RawGetString(name).(*lua.LTable), name, format)
		base.RawSetString(name, in.readonly(library))
	}
	strings := l.NewTable()
	strings.RawSetString("__index", base.RawGetString(lua.StringLibName))
	strings.RawSetString("__metatable", lua.LFalse)
	l.SetMetatable(lua.LString(""), strings)
	commands := l.NewTable()
	setFunctions(l, commands, map[string]lua.LGFunction{"call": in.call, "pcall": in.pcall, "error_reply": errorReply,
		"status_reply": statusReply, "sha1hex": sha1hex, "replicate_commands": always})
	base.RawSetString("redis", in.readonly(commands))
	base.RawSetString("_VERSION", lua.LString(lua.LuaVersion))
	missing := l.NewTable()
	setFunctions(l, missing, map[string]lua.LGFunction{"__index": nonexistent})
	base.Metatable = missing
	shown := in.readonly(base)
	base.RawSetString("_G", shown)
	l.Env, l.G.Global, in.globals = shown, shown, base
}

// pick copies what is visible of a library, in the order of the names, with ours in place of gopher-lua's.
func (in *interpreter) pick(from *lua.LTable, library string, ours map[string]lua.LGFunction) *lua.LTable {
	contents := in.state.NewTable()
	for _, name := range strings.Fields(visible[library]) {
		v := from.RawGetString(name)
		if f := ours[name]; f != nil {
			v = in.state.NewFunction(f)
		}
		contents.RawSetString(name, v)
	}
	return contents
}

// setFunctions fills a table in the order of the names: SetFuncs takes that of a map, which a script would see.
func setFunctions(l *lua.LState, t *lua.LTable, all map[string]lua.LGFunction) {
	for _, name := range slices.Sorted(maps.Keys(all)) {
		t.RawSetString(name, l.NewFunction(all[name]))
	}
}

// modifies is the error of redis-server for a change of what is given to scripts.
const modifies = "Attempt to modify a readonly table"

// readonly is a table that shows the contents and cannot be changed: it is empty, so that every assignment is one to a field
// that is not there.
func (in *interpreter) readonly(contents *lua.LTable) *lua.LTable {
	shown, meta := in.state.NewTable(), in.state.NewTable()
	meta.RawSetString("__index", contents)
	meta.RawSetString("__metatable", lua.LFalse)
	meta.RawSetString("__newindex", in.state.NewFunction(func(l *lua.LState) int {
		l.RaiseError(modifies)
		return 0
	}))
	shown.Metatable = meta
	in.shown[shown] = true
	return shown
}

// rawset is Lua's, for tables that are not readonly.
func (in *interpreter) rawset(sets lua.LGFunction) lua.LGFunction {
	return func(l *lua.LState) int {
		if in.shown[l.CheckTable(1)] {
			l.Error(lua.LString(modifies), 0)
		}
		return sets(l)
	}
}

// nonexistent is what reading a global that is not there does.
func nonexistent(l *lua.LState) int {
	l.RaiseError("Script attempted to access nonexistent global variable '%s'", text(l.Get(2)))
	return 0
}

// collects is collectgarbage. What it says of the memory is not the host's.
func collects(l *lua.LState) int {
	l.Push(lua.LNumber(0))
	return 1
}

// tostring is Lua's, and says no address.
func tostring(l *lua.LState) int {
	l.Push(lua.LString(text(l.CheckAny(1))))
	return 1
}

// text is how a value reads; of one that Lua tells by its address, what it is.
func text(v lua.LValue) string {
	switch v := v.(type) {
	case lua.LString, lua.LNumber, lua.LBool, *lua.LNilType:
		return v.String()
	}
	return v.Type().String()
}

// conversion is one in a format.
var conversion = regexp.MustCompile(`%[-+ #0]*\d*(?:\.\d*)?([a-zA-Z%])`)

// format is string.format for what Lua converts: gopher-lua's, which is fmt.Sprintf, shows the addresses of tables.
func format(formats lua.LGFunction) lua.LGFunction {
	return func(l *lua.LState) int {
		argument := 1
		for _, c := range conversion.FindAllStringSubmatch(l.CheckString(1), -1) {
			if c[1] == "%" {
				continue
			}
			if argument++; c[1] == "s" || c[1] == "q" {
				l.Replace(argument, lua.LString(l.CheckString(argument)))
			} else {
				l.Replace(argument, l.CheckNumber(argument))
			}
		}
		return formats(l)
	}
}
