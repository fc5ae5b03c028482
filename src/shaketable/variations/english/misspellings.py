"""Words → the ways in which people mistype and misspell them."""

from __future__ import annotations

import functools
import re
import string
from collections.abc import Iterator, Mapping

from shaketable.variations.english.known_words import is_common, is_word
from shaketable.weights import locate

NAME = "nlpaug-misspellings"
PLAIN = re.compile(r"[a-z]{3,}")
RUDE = re.compile(
    r"anus|arse|cock|coon|crap|cum|cunt|dick|fag|fuck|nig|piss|porn|rape|sex|shit|slut|tit|twat|wank|whor"
)
KEYBOARD = ("qwertyuiop", "asdfghjkl", "zxcvbnm")
SHORTEST_TYPED = 4
PAIRS = """
        accidentally:accidently accommodate:accomodate,acommodate achieve:acheive achieved:acheived across:accross
        address:adress addresses:adresses allowed:alowed already:allready amount:ammount annual:anual answer:anser
        apparent:apparant appearance:appearence approximately:aproximately argument:arguement available:availible
        average:avarage beautiful:beutiful,beautifull because:becuase,becouse before:befor beginning:begining
        believe:beleive,belive between:betwen,beetween building:bulding business:buisness,bussiness calendar:calender
        called:caled category:catagory celebrate:celabrate cemetery:cemetary century:centuary certain:certian
        changes:chagnes character:charachter children:childern choose:chosse column:colum coming:comming
        committee:commitee,comittee common:comon company:compnay,comapny completely:completly conference:conferance
        connected:conected control:controll country:contry countries:contries create:creat
         definitely:definately department:departement describe:discribe
        description:discription details:detials developed:developped development:developement
        difference:diffrence different:diffrent,diferent director:directer,diretor disappear:dissapear
        disappointed:dissapointed discovered:discoverd does:deos embarrass:embarass environment:enviroment
        equipment:equiptment especially:especialy exactly:exactley example:exemple excellent:excelent
        existence:existance expense:expence experience:experiance extremely:extremly famous:famus
        february:febuary finally:finaly foreign:foriegn,foreing forty:fourty forward:foward
        friend:freind friends:freinds gauge:guage government:goverment,govermnet grammar:grammer
        great:graet group:gruop guarantee:garantee,guarentee guard:gaurd happened:happend height:heigth,hieght
        highest:higest history:histroy hospital:hopsital hours:horus how:hwo
        immediately:immediatly,imediately important:importent independent:independant information:infomation
        instead:insted intelligence:inteligence interest:intrest interested:intrested island:iland
        knowledge:knowlege language:langauge,languange largest:largets learned:lerned length:lenght
        library:libary license:lisence location:loaction longest:longets machine:mashine maintenance:maintainance
        many:mnay marriage:marrage married:maried maximum:maximun meant:ment medicine:medecine million:milion
        minutes:mintues mountain:mountian movement:movment movie:moive museum:musuem,musem must:muts
         necessary:neccessary,necesary neighbor:nieghbor noticeable:noticable
        number:numebr,nubmer occasion:occassion occurred:occured occurrence:occurence office:offcie official:offical
        opening:openning opposite:oposite original:orginal parliament:parliment particular:particuler
        people:peopel,poeple performance:performence permanent:permenant piece:peice played:palyed
        popular:populer population:popultion possession:posession possible:possable president:presedent,presidnet
        privilege:priviledge probably:probaly produced:prodused professor:proffesor pronunciation:pronounciation
        published:publised purchase:purchace question:quesiton,qeustion questionnaire:questionaire
        really:realy reason:reson receive:recieve received:recieved recommend:recomend,reccomend reference:refrence
        relevant:relevent religious:religous remember:rember,remeber request:reqest required:requierd
        responsible:responsable restaurant:restaraunt,resturant review:reveiw rhythm:rythm safety:saftey,safty
        schedule:schedual,shedule school:shcool science:sience scientist:sientist second:secound
        secretary:secratary separate:seperate separated:seperated several:severel similar:similiar,simular
        sincerely:sincerly situated:situatted special:speical speech:speach
        state:staet statement:statment stopped:stoped strength:strenght
        studied:studyed successful:succesful,sucessful supposed:suposed surprise:suprise team:taem
        temperature:temprature,temperture than:tahn that:taht the:teh,hte their:thier there:theer these:thses
        they:tehy third:thrid this:tihs thorough:thourough thought:thougth through:throught,thorugh
        together:togehter tomorrow:tommorow,tomorow tongue:tounge total:totel tower:towre tried:tryed truly:truely
        twelfth:twelth twelve:twleve type:tpye university:univeristy,univercity until:untill
        unusual:unsual usually:usualy,ususally vacuum:vaccum vegetable:vegtable vehicle:vehical visible:visable
        visit:vist wears:waers weather:wheather wednesday:wensday weight:wieght weird:wierd welcome:wellcome
        were:wree what:waht,waht when:wehn where:wehre which:wich,whcih who:woh with:wiht without:witout
        woman:womna work:wrok worked:wroked world:wrold would:woudl writer:wirter writing:writting
        written:writen wrote:worte year:yaer years:yaers yesterday:yesteday
"""
COMMON: Mapping[str, tuple[str, ...]] = {
    right: tuple(wrong.split(",")) for right, wrong in (pair.split(":") for pair in PAIRS.split())
}
"""Right → wrong, written down by hand for this project; none is another word."""


@functools.cache
def load(name: str = NAME) -> Mapping[str, tuple[str, ...]]:
    """57,690 words, each with its misspellings; a misspelling has the words it stands for, so errors turn right too.

    `name` is the embedded list, or the path of a file of the same layout: a word, then its misspellings, on each line.
    """
    found: dict[str, dict[str, None]] = {}
    for word, misspelled in _lines(name):
        for other in misspelled:
            found.setdefault(word, {})[other] = None
            found.setdefault(other, {})[word] = None
    return {word: tuple(others) for word, others in found.items()}


def common(word: str) -> tuple[str, ...]:
    """Return the common misspellings of a word in small letters."""
    return COMMON.get(word, ())


@functools.cache
def typed(word: str) -> tuple[str, ...]:
    """Return the word after a slip on the keyboard: two letters swapped, one left out, one twice, or the key beside it,
    where a reader still takes it for the word."""
    slips = dict.fromkeys(_slips(word)) if len(word) >= SHORTEST_TYPED and is_word(word) else {}
    return tuple(slip for slip in slips if is_recognizable(word, slip))


def is_recognizable(word: str, wrong: str) -> bool:
    """Return whether a slip is read as the word that was meant, and not as another that is as near."""
    if not (PLAIN.fullmatch(word) and PLAIN.fullmatch(wrong)) or wrong == word or _is_another(word, wrong):
        return False
    if RUDE.search(wrong) and not RUDE.search(word):
        return False
    if wrong in _swapped(word):  # Easy to read, but for the shortest words: `teh` is known, `nad` is not.
        return len(word) > 3 or word == "the"
    if wrong[0] != word[0] or len(word) < 4:
        return False
    return wrong in set(_slips(word)) and not _rivals(word, wrong)


def _is_another(word: str, wrong: str) -> bool:
    """Whether it is another word, or one with an ending that says something else."""
    has_ending = f"{wrong}s" == word or (wrong[:-1] == word and wrong[-1] in "aeios")
    return has_ending or is_word(wrong)


def _rivals(word: str, wrong: str) -> set[str]:
    """Other words that are one edit away from a misspelling, unless they are forms of the word itself."""
    stem = word[: max(4, len(word) - 3)]
    return {rival for rival in _one_edit(wrong) - {word} if not rival.startswith(stem) and is_common(rival)}


def _lines(name: str) -> Iterator[tuple[str, tuple[str, ...]]]:
    place = locate(name)
    file = next(place.glob("*.txt")) if place.is_dir() else place
    for line in file.read_text("utf-8").splitlines():
        word, *misspelled = line.split(" ")
        yield word, tuple(misspelled)


def _one_edit(word: str) -> set[str]:
    """What is one Damerau-Levenshtein edit away."""
    cuts = [(word[:i], word[i:]) for i in range(len(word) + 1)]
    letters = string.ascii_lowercase
    return (
        {left + right[1:] for left, right in cuts if right}
        | {left + letter + right[1:] for left, right in cuts if right for letter in letters}
        | {left + letter + right for left, right in cuts for letter in letters}
        | _swapped(word)
    )


def _swapped(word: str) -> set[str]:
    return {word[:i] + word[i + 1] + word[i] + word[i + 2 :] for i in range(len(word) - 1)} - {word}


def _slips(word: str) -> Iterator[str]:
    """The first letter stays: people seldom miss it, and readers need it."""
    for i in range(1, len(word)):
        if i + 1 < len(word):
            yield word[:i] + word[i + 1] + word[i] + word[i + 2 :]
            yield word[:i] + word[i + 1 :]
        yield word[: i + 1] + word[i:]
        yield from (word[:i] + key + word[i + 1 :] for key in _keys_beside(word[i]))


def _keys_beside(letter: str) -> str:
    row = next((row for row in KEYBOARD if letter in row), "")
    place = row.find(letter)
    return row[max(0, place - 1) : place] + row[place + 1 : place + 2] if row else ""
