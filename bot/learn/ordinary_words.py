"""Words that people write in reviews everywhere: a login or a name that is one is still a word.

Words of three letters and more that stand in lower case, outside code, in review comments of at
least three of twelve projects (7,822 comments; a test makes the list anew where the data is).
"""

LEAST_PROJECTS = 3
_WORDS = """
abbreviations ability able about above absolute absolutely abstract abstraction accept acceptable
accepted accepting accepts access accessed accessible accessing accident accidental accidentally
according accordingly account accurate accurately achieve achieved across act action actions
active acts actual actually adapter adapters add added adding addition additional additions
address addressed addresses addressing adds adjust adjusted adopted advanced advice affect
affected affecting affects afraid after afterwards again against ago agree agreed ahead algorithm
alias aliases align aligned all allow allowed allowing allows almost alone along alphabetically
already also alt alter alternative alternatively alternatives although altogether always ambiguous
amount and annotate annotated annotation annotations annoying another any anymore anyone anything
anyway anyways anywhere api app apparently appear appearing appears append applicable application
applied applies apply applying appreciate approach approaches appropriate arbitrary are area aren
arg args argue argument arguments arise around array arrow artificial ask asked asking aspect
assert asserting assertion assertions asserts assign assigned assigning assignment assignments
assigns associated assume assumed assumes assuming assumption assumptions async atomic attempt
attempted attempting attention attribute attributes attrs auto automatically available avoid
avoided avoiding avoids aware away awesome back backend backends background backport backward
backwards bad balance bare base based basic basically became because become becomes been before
beginning behave behaves behavior behaviour behind being believe belongs below benchmark benefit
benefits besides best better between big bigger binary binding bit blame blank block blocker
blocking blocks body boolean both bother bottom bound box branch branches break breaking breaks
briefly bring brittle broad broken btw bubble buffer buffering bug bugfix bugs build building
builds built builtin bump bunch bundle but bypass byte bytes cache cached caching calculation call
callable callables callback callbacks called caller callers calling calls came can cancel cannot
capture captures capturing care carefully carried case cases cast casting catch catching category
caught cause caused causes causing certain certainly chain chained chance change changed changelog
changes changing character characters check checked checker checkers checking checks child choice
chose circular circumstances clarification clarify clarifying clarity class classes clause clauses
clean cleaned cleaner cleanest cleaning cleanup clear clearer clearly client clients close closed
closely closer closing cls code codebase codes coding coercion collected collecting collection
collections collision columns combination combinations combine come comes coming comma command
commands comment commented commenting comments commit commits common compare compared comparing
comparison compat compatibility compatible compile compiled compiling complain complete completely
complex complicate complicated component components composite comprehension compute concatenation
concept concern concerned concerns concise conclusion concurrency concurrent concurrently
condensed condition conditional conditions confident config configurable configuration configure
confirm conflict conflicts confuse confused confusing confusion connection consequences consider
consideration considered considering consistency consistent consistently consolidated constant
constants constraint constraints construct construction constructor contain contained containing
contains content contents context contexts continue contract contradicts contribution contributors
control convenient convention conventions conversation conversion convert converted converting
converts convinced cookie copied copies copy copying copyright core correct corrected correcting
correctly corresponding cost costly could couldn count counter counterpart counting couple course
cover coverage covered covers crash crashes create created creates creating creation critical
curious current currently cursor custom customize cycle dangerous data database dataclass date day
days dead deal debug debugging decide decided decision declaration declarations declare declared
declaring decoding decorator dedicated deep def default defaults defensive deferred define defined
defining definitely definition definitions delay delegate delegating delegation delete deleted
deleting deletion depend dependencies dependency dependent depending depends deprecate deprecated
deprecating deprecation deprecations depth derived describe described describing description
descriptive descriptors deserializing deserves design designed desirable desired despite detail
detailed details detect detected detection determine determined dev developer development dict
dictionary dicts did didn didnt diff difference differences different differently difficult dir
direct direction directly directories directory disable disabled disagree discard discuss
discussed discussion discussions display displayed distinct distinction distinguish dive doc docs
docstring docstrings document documentation documented documenting does doesn doing don done dont
dot double doubt down downstream draft draw drop dropped dropping drops due dummy dumped duplicate
duplicated duplicates duplicating duplication during dynamic dynamically each earlier early ease
easier easiest easily easy edge edit editing editor edits effect effectively effects efficient
efficiently effort either elaborate elegant element elements eliminate else elsewhere email emit
emits emitted emitting empty enable enabled enabling encoding encounter encountered encourage end
ended ending ends enforce engine enough ensure ensures ensuring enter entering entire entirely
entries entry enum env environment equal equality equivalent error errors escape especially
essentially etc evaluate evaluated evaluates evaluating evaluation even event events eventually
ever every everything everytime everywhere exact exactly example examples except exception
exceptions excessive exclude execute executed executes execution exist existing exists exit exits
expand expect expectation expected expects expensive experience experimental explain explained
explaining explains explanation explicit explicitly explode export expose exposed exposing express
expression expressions extend extending extension extensions external extra extract extracted eye
facepalm fact factor factory fail failed failing fails failure failures fall fallback false fan
far fast faster favor favour feature features feedback feel feels felt fetch fetched fetching few
fewer field fields figure figured file filename files filesystem fill filter filtering filters
final finally find finding fine fingerprint finish finished fire first fit fits fix fixed fixes
fixing fixture flag flags flaky flexibility flexible float flow focus focused focuses folder folks
follow followed following follows for force forcing forget forgot form format formats formatted
formatter formatting former forms forward found frame frames free fresh from front frozen full
fully function functional functionality functionally functions further future gains gap garbage
gather general generally generate generated generates generating generation generator generic get
gets getter getting git give given gives giving glad global globally goal goes going gone good got
gotten granular great greater group grouping groups guarantee guaranteed guarantees guard guess
guessing guidance guidelines guys hack hacky had hadn half hand handle handled handler handlers
handles handling happen happened happening happens happy hard hardcoded harder harm has hash have
haven having head header heading hear height help helper helpers helpful helps hence here hidden
hide high higher highest highlight highly hint hints his history hit hold holding honestly hook
hope hoping host hot how however http huge hurt idea ideal ideally ideas identical identifier
identify ignore ignored ignores ignoring image imagine img immediately imo impact implement
implementation implementations implemented implementing implements implicit implicitly implies
imply import important importantly imported importing imports impossible improve improved
improvement improvements improving inclined include included includes including incompatible
incomplete inconsistency inconsistent incorrect incorrectly increase indeed indentation
independent index indicate indicates individual individually infer inferred infinite info
information inherit inheritance init initial initialization initialized initializing initially
inject inline inlined inner input inputs insert inside inspection install installation installed
installing installs instance instances instead instructions int integer integers integration
intend intended intent intention intentional intentionally interested interesting interface
interfaces intermediate internal internally internals interpreted into introduce introduced
introducing introduction intuitive invalid investigate involved irrelevant isinstance isn isolated
issue issues item items iterable iterate iterating iteration iterator its itself job jobs join
json just justified keep keeping keeps kept key keys keyword kind kinda kinds knew know knowing
knowledge known knows kwargs label lack lambda language large larger last late later latest latter
launch layer lazy lead leading leak leaks learn learned least leave leaves leaving left leftover
length less let lets letter letting level levels libraries library life light like liked likely
limit limitation limited line lines link linked linking links lint list listed lists literal
literals little live load loaded loader loading loads local locally location lock log logged
logger logging logic logical logically logs lol long longer look looked looking looks lookup loop
loops loose lose losing lost lot lots loudly love lower machine made magic main maintain
maintainers maintenance major majority make makes making manage managed management manager manages
mandatory manual manually many map mapping maps mark marked marking master match matched matches
matching matter matters max may maybe mean meaning meaningful means meant measure mechanism member
members memory memoryview mention mentioned mentioning mentions merge merged merging mess message
messages messy metaclass metadata method methods middle might migrate migration mind minimal
minimize minor misleading mismatch miss missed missing mistake misunderstood mix mixing mock
mocking mode model models modern modes modification modified modify modifying module modules
moment monkeypatch more most mostly move moved moving msg much multiline multiple must mutable
mypy myself naive name named names namespace naming native natural nature nearly necessarily
necessary need needed needing needs negative negligible neither nested never new newer newlines
newly next nice nicer nit nitpick node noisy non none nor normal normalize normally not note notes
nothing notice noticeable noticed notify now null number numbers numeric obj object objections
objects obsolete obvious obviously occur occurrences occurs odd off offer officially often okay
old older omit omitted once one ones only open opened opens operates operation operations operator
operators opinion opportunity opposed opposite opt opted optimization optimizations optimize
option optional options order ordered original originally other others otherwise our ourselves out
outcome outdated outer output outputs outside over overall overhead overkill overload overloaded
overlooked overridden override overrides overriding oversight own package packages page parallel
param parameter parameterized parameters parametrized params parent parentheses parenthesized
parse parsed parser parsing part partial particular particularly parts party pass passed passes
passing past patch patching path paths pattern patterns pay people per perfect perfectly perform
performance performed performs perhaps period permission permissions personal personally
perspective phrased pick picked picking pickle piece pip pipeline place placed placeholder
placement places plain plan platform platforms play please pls plugin plural plus point pointer
pointing points policy pool pop popped position positive possible possibly post potential
potentially practical practice precedence precise precision prefer preference preferred prefix
preparing presence present preserve preserved preserving pretty prevent preventing prevents
preview previous previously primary print printed prior priority private probably problem
problematic problems process processes processing produce produced produces program programming
project projects promise proper properly properties property proposal propose proposed proposing
protocol provide provided provider providers provides providing proxy public publicly pull pure
purely purpose purposes push pushed pushing put putting pydantic pyproject pytest python query
question questions queue quick quickly quite quotes race raise raised raises raising ran random
range rare rather raw reach reached read readability readable reader reading reads ready real
reality realize realized really reason reasonable reasoning reasons rebase rebased recall received
recent recently recognize recommend recommendation recommended record recursive recursively
redirect reduce reduced redundant ref refactor refactored refactoring refactorings refactors refer
reference referenced references referred referring reflect reflected reformat regarding regardless
regex register registered registering regression regular rejected relate related relation relative
release releases relevant reliably relied relies reload rely relying remain remaining remains
remember remote removal remove removed removes removing rename renamed renaming rendered rendering
repeat repeated repeatedly rephrase replace replaced replaces replacing reply repo report reported
reports representation represents reproduce request requested requests require required
requirement requirements requires requiring research reset resolution resolve resolved resolves
resolving resource respect response responses responsible rest restore restored restrict result
resulting results retain retrieve retrieved return returned returning returns reusable reuse
reused revealed reversed revert reverted reverting review reviewing revisit rewrite rewriting
rewritten rich rid right risk risky robust root route row rule rules run running runs runtime safe
safely safer safest safety said sake same sample save saves saving saw say saying says scenario
scenarios scheduler schema scheme scope scoped scratch screenshot script scripts search second
seconds section sections see seeing seem seemed seems seen select self semantics send sending
sense sent sentence sentinel separate separated separately separator sequence sequential
serialisation serialization serialized serializer serializing serve server service session set
sets setting settings setup several severity shall share shared shift short shortcut shortened
shorter should shouldn show showing shown shows shutdown side sides sign signal signals signature
signatures significant silently silly similar similarly simple simpler simplification simplified
simplifies simplify simplifying simply since single singleton singletons singular sit site sites
situation situations size skip skipped skipping skips slash slashes slight slightly slot slots
slow small smaller smart smile snippet solution solve solved some somehow someone something
sometimes somewhat somewhere soon sorry sort sorted sorting sound sounds source sources space
spaces spec special specific specifically specification specifics specified specifies specify
specifying spell spelling split splitting spot spotted spotting squash src stable stack stage
standalone standard standardize start started starting starts startup state stated statement
statements states static stating stats status stay stderr stdlib step steps stick still stop
stopped storage store stored stores storing str straight straightforward strange strategy strict
strictly strike string strings strip strong structure structures stuck stuff stupid style
stylistic subclass subclasses subclassing submit subsequent subtle succeed success successful
successfully such suffice sufficient suffix suggest suggested suggesting suggestion suggestions
suggests suitable suite super superclass support supported supporting supports suppose supposed
suppress sure surprised surprising surrounding suspect suspicious swap switch switching symbol
sync syntax system table tackle tag tags take taken takes taking talking target task tasks tbh
team technical technically tell template temporary tend term terminal termination terms test
tested testing tests text than thank thanks that the their them themselves then there therefore
these they thing things think thinking thinks third this those though thought thoughts thread
threads three through throughout throw throwing thrown throws thus time timeout times timezone
tiny title today together told tomorrow too took tool tools top topic total totally touch toward
towards traceback track tracked trailing transformation translate treat tree trick tricky tried
tries trigger triggered triggers trouble true truly try trying tuple tuples turn turns tweak twice
two type typed types typical typically typing typo typos ugly unable unchanged unclear
unconditionally uncovered undefined under underlying understand understanding understood undo
unexpected unfortunate unfortunately unicode unintended union unique unit unless unlikely
unnecessary unneeded unreachable unrelated unsafe unset unsure until unused unusual update updated
updates updating upgrade upon upper upstream url usable usage usages use used useful useless user
users uses using usual usually utilities utility val valid validate validates validation
validators valuable value values var variable variables variants various vars verbose verified
verifies verify version versions very via view viewed virtual visible wait waiting want wanted
wants warn warning warnings was wasn waste way ways wdyt weak week weight weird welcome well went
were weren what whatever when whenever where whereas whether which while whitespace who whole why
width wild will windows wise wish with within without won wonder wondering word wording words work
workaround worked workflow working works worried worries worry worse worst worth would wouldn wrap
wrapped wrapper wrapping write writing written wrong wrote wrt yeah years yep yes yesterday yet
yield yielding you your yours zero
"""
ORDINARY = frozenset(_WORDS.split())
