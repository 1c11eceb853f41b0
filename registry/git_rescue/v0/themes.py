"""What the repositories hold: lists that grow at their end, settings, notes and a script."""

GARDEN = {
    "folder": "herb-garden",
    "about": "The herb garden behind the old school: what grows where, and what must be done.",
    "lists": {
        "beds/north.txt": """
            Lovage, Sweet cicely, Wild garlic, Woodruff, Mint in pots, Lady's mantle, Angelica,
            Chervil, Salad burnet, Sorrel, Horseradish, Valerian, Comfrey, Ramsons
        """,
        "beds/south.txt": """
            Rosemary, Thyme, Winter savory, Sage, Lavender, Hyssop, Oregano, Bay, Curry plant, Rue,
            Santolina, Caraway thyme, Fennel, Wormwood
        """,
        "seeds.txt": """
            Dill, Borage, Basil 'Nano', Coriander, Chamomile, Cress, Poppy, Nasturtium, Marigold,
            Perilla, Anise, Cumin, Mustard, Shiso, Black cumin
        """,
        "helpers.txt": """
            Mondays: the Okafors, Tuesdays: class 4b, Wednesdays: nobody, Thursdays: Jo, Fridays:
            Ilse and Bo, Saturdays: open day, Sundays: rest, Holidays: Mr Pärn, First of May: all,
            Harvest: ask Jo, Frost watch: Ilse, Compost: Bo, Keys: the office
        """,
    },
    "keys": "water_minutes frost_alarm open_until max_visitors row_gap seed_depth rest_days",
    "topics": "Slugs Watering Compost Labels Visitors Frost Bees Tools Paths Shade Pruning Drying",
}
LIBRARY = {
    "folder": "choir-library",
    "about": "The sheet music of the harbour choir: what there is, who has it, how it is lent.",
    "lists": {
        "shelves/early.txt": """
            Tallis: If ye love me, Byrd: Ave verum, Morley: April, Lassus: Echo, Isaac: Innsbruck,
            Schütz: Psalm 100, Gastoldi: Amor, Arcadelt: Swan, Josquin: Mille, Victoria: O magnum,
            Gibbons: Silver swan, Senfl: Bells, Janequin: Birds
        """,
        "shelves/late.txt": """
            Kodály: Evening song, Bartók: Loafers, Holst: Ave Maria, Ravel: Nicolette, Debussy:
            Yver, Grieg: Hope, Reger: Night, Elgar: Snow, Stanford: Bluebird, Parry: Songs, Alfvén:
            Evening, Stenhammar: September, Nielsen: Dandelion
        """,
        "borrowed.txt": """
            12 Byrd to Nora, 8 Holst to the school, 3 Ravel to Ben, 20 Parry to St Olaf, 1 Senfl to
            Vic, 5 Grieg to Nora, 14 Elgar to the hospice, 2 Lassus to Ben, 9 Reger to Al, 4 Kodály
            to Mo, 6 Morley to Vic, 7 Tallis to Al, 11 Isaac to Mo
        """,
        "wishes.txt": """
            More for altos, Something short, A round, Something in Finnish, No more Reger, A larger
            print, Two copies of Swan, A summer song, Parts for the tenors, A clean Byrd, Something
            with drums, A piece by Nora, The missing Holst
        """,
    },
    "keys": "loan_weeks reminder_days copies_min copies_max fee_cents print_size shelf_width",
    "topics": (
        "Lending Binding Copies Rehearsals Damp Labels Repairs Guests Storage Fees Pencils Lists"
    ),
}
STATION = {
    "folder": "weather-station",
    "about": "The weather station on the water tower: its sensors, its records, its people.",
    "lists": {
        "sensors/roof.txt": """
            Wind vane, Cup anemometer, Rain gauge 1, Rain gauge 2, Pyranometer, Thermometer A,
            Hygrometer A, Barometer, Leaf wetness, UV meter, Ceilometer, Thermometer B, Lightning
            counter, Hygrometer B
        """,
        "sensors/ground.txt": """
            Soil probe 5 cm, Soil probe 20 cm, Soil probe 50 cm, Snow stake, Dew plate, Grass
            thermometer, Well float, Frost tube, Evaporation pan, Gravel probe, Moss probe, Soil
            probe 1 m, Spare probe
        """,
        "outages.txt": """
            2 March: hail, 9 March: power cut, 1 April: spiders, 17 April: update, 3 May: ice, 20
            May: bird, 6 June: lightning, 30 June: dust, 8 July: ants, 21 July: battery, 5 August:
            cable, 19 August: unknown, 2 September: wasps
        """,
        "rota.txt": """
            Week 1: Sven, Week 2: Amal, Week 3: Sven, Week 4: Rita, Week 5: Amal, Week 6: Rita,
            Week 7: Sven, Week 8: Dov, Week 9: Amal, Week 10: Rita, Week 11: Dov, Week 12: Amal
        """,
    },
    "keys": (
        "sample_seconds average_minutes gust_limit battery_low upload_hour keep_days smooth_steps"
    ),
    "topics": (
        "Calibration Birds Ice Batteries Cables Records Gusts Night Uploads Ladders Dust Clocks"
    ),
}
MUSEUM = {
    "folder": "museum-labels",
    "about": "Labels of the small museum of everyday things, room by room.",
    "lists": {
        "rooms/kitchen.txt": """
            Egg timer, Cherry stoner, Butter mould, Ice box, Waffle iron, Salt jar, Toast fork,
            Jelly pan, Bean slicer, Fish kettle, Sugar tongs, Milk can, Nutmeg grater
        """,
        "rooms/office.txt": """
            Blotter, Ink well, Hole punch, Comptometer, Dip pen, Sealing wax, Letter scale, Desk
            bell, Carbon paper, Rubber stamp, Card index, Paper knife, Spike file
        """,
        "loans.txt": """
            Ice box from Åse, Desk bell from the bank, Salt jar from Ivo, Milk can from a farm,
            Spike file from Ivo, Dip pen from the mill, Waffle iron from Åse, Ink well from Lou,
            Fish kettle from the inn, Blotter from Lou, Egg timer from Ruth, Hole punch from Ruth
        """,
        "missing.txt": """
            Handle of the ice box, Lid of the salt jar, Key of the card index, One toast fork, Nib
            4, Glass of the ink well, Cork of the jar, Hinge of the box, Label 17, Label 20, Base
            of the scale, Third mould, Clapper of the bell
        """,
    },
    "keys": "label_width font_size lamp_lux open_hour close_hour group_size line_length",
    "topics": (
        "Light Dust Labels Loans Damage Opening Groups Keys Repairs Photographs Heating Paper"
    ),
}
FERRY = {
    "folder": "ferry-plan",
    "about": "Plan of the two ferries between the islands, kept as text.",
    "lists": {
        "boats/heron.txt": """
            Check the ramp, Grease the winch, Count the vests, Test the horn, Air the hold, Oil the
            rudder, Paint the rail, Clean the filter, Swap the bulbs, Tighten the belt, Read the
            hours, Drain the bilge, Wash the deck
        """,
        "boats/plover.txt": """
            Count the rafts, Test the pump, Charge the radio, Check the anchor, Scrape the hull,
            Oil the hinges, Fill the water, Mend the net, Wind the clock, Dry the ropes, Sort the
            flags, Seal the hatch, Weigh the stores
        """,
        "stops.txt": """
            Norrö, Long Quay, Mill Stones, Birch Island, The Narrows, Old Customs, Sand Hook,
            Lighthouse, Seal Bank, Church Bay, Upper Landing, Fox Point, Winter Berth
        """,
        "notices.txt": """
            No bicycles at noon, Dogs on deck, Tickets on board, Ring for Seal Bank, Mind the gap,
            No ramp at low water, Fog: ask by radio, Change at Norrö, Last boat 21:40, Groups: call
            first, No cars on Sundays, Post on Tuesdays
        """,
    },
    "keys": "turn_minutes max_cars max_people fog_metres wind_limit fuel_reserve boarding_seconds",
    "topics": "Fog Ice Tickets Cars Fuel Radio Ropes Winter Crew Cargo Tides Noise",
}
THEMES = [GARDEN, LIBRARY, STATION, MUSEUM, FERRY]
SENTENCES = """
What we tried last year did not last.
Ask before you change anything here.
Twice a week is enough, unless it is very dry.
The old way was better; see the minutes of March.
This takes two people and half an hour.
Nobody remembers why, but it works.
The spare parts are in the blue box.
Write the date on everything.
Not on Sundays.
It costs less than it seems.
Whoever comes first begins.
Look again after a week.
"""
FIRST = "Ada Bela Cleo Dario Elif Fenna Gwen Hugo Iris Jarno Kaya Lars Mina Noé Oda Pia Runa Tomás"
LAST = "Aalto Berg Conti Duarte Elmi Fox Grün Halloran Imre Jónsdóttir Katz Lund Moor Nagy Orr"
BRANCHES = "autumn next-season tidy-up inventory proposals second-draft review handover"
SIDE_BRANCHES = "archive printing translation spare-list"
MESSAGES = [
    "Keep what was half done",
    "Finish the pending changes",
    "Save the last loose ends",
]
