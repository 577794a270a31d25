CREATE TABLE `processes` (
	`id` text PRIMARY KEY NOT NULL,
	`beat_at` integer NOT NULL
);
--> statement-breakpoint
ALTER TABLE `answers` ADD `claimed_by` text;--> statement-breakpoint
ALTER TABLE `answers` ADD `begun` text;--> statement-breakpoint
ALTER TABLE `api_keys` ADD `mac` text;--> statement-breakpoint
ALTER TABLE `authorizations` ADD `claimed_by` text;--> statement-breakpoint
CREATE INDEX `authorizations_claimed` ON `authorizations` (`claimed_by`) WHERE status = 'exchanging';--> statement-breakpoint
CREATE INDEX `authorizations_held` ON `authorizations` (`deadline`) WHERE response is not null;--> statement-breakpoint
ALTER TABLE `connections` ADD `withheld_scopes` text DEFAULT '{}' NOT NULL;--> statement-breakpoint
ALTER TABLE `policies` ADD `mac` text;--> statement-breakpoint
ALTER TABLE `projects` ADD `policies_version` integer DEFAULT 0 NOT NULL;--> statement-breakpoint
ALTER TABLE `providers` ADD `mac` text;--> statement-breakpoint
ALTER TABLE `workers` ADD `mac` text;--> statement-breakpoint
ALTER TABLE `workers` ADD `unreachable_since` integer;--> statement-breakpoint
ALTER TABLE `workers` ADD `accepted` text;--> statement-breakpoint
ALTER TABLE `workers` ADD `accepted_mac` text;