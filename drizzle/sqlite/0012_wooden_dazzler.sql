ALTER TABLE `api_keys` ADD `mac` text;--> statement-breakpoint
ALTER TABLE `policies` ADD `mac` text;--> statement-breakpoint
ALTER TABLE `providers` ADD `mac` text;--> statement-breakpoint
ALTER TABLE `workers` ADD `mac` text;